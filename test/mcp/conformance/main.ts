import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { embed } from 'reeve'
import { mcpHttpHandler } from '../../../src/mcp/http.ts'
import { onLoopback } from '../loopback.ts'
import { withFixtures } from './fixture-server.ts'

/**
 * The public conformance suite for MCP servers, all of its server scenarios, against Reeve's server with the suite's
 * fixtures. Ends with a line `N passed, N failed`; the exit code is 0 only if nothing failed and every scenario was run.
 */

/** Checks that do not apply to Reeve, and why. */
const NOT_APPLICABLE: Readonly<Record<string, string>> = {
  'server-sse-priming-event':
    "a recommendation for streams that can be resumed. Reeve's are not: a call that was cut off can be made again, and all output stays in the log",
  'server-sse-retry-field': 'the same: there is nothing to come back to',
}

interface Check {
  readonly id: string
  readonly description: string
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO'
  readonly errorMessage?: string
}

const SUITE = fileURLToPath(new URL('../../../node_modules/.bin/conformance', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'reeve-conformance-'))
try {
  process.exitCode = await main()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function main(): Promise<number> {
  const reeve = await embed({ store: join(folder, 'reeve.db') })
  const fixtures = await onLoopback(mcpHttpHandler(reeve, { build: withFixtures }))
  const results = join(folder, 'results')
  const options = ['server', '--url', fixtures.url, '--suite', 'all', '--output-dir', results]
  const run = await ran([SUITE, ...options])
  await fixtures.close()
  await reeve.close()

  const scenarios = scenariosIn(results)
  const expected = await scenarioNames()
  const missing = expected.filter((name) => !scenarios.has(name))
  let [passed, failed] = [0, 0]
  for (const [name, checks] of [...scenarios].sort()) {
    for (const check of checks) {
      if (check.status === 'INFO' || check.id in NOT_APPLICABLE) continue
      if (check.status === 'SUCCESS') passed++
      else if (check.status === 'FAILURE') failed++
      if (check.status !== 'SUCCESS')
        console.log(`${check.status} ${name} ${check.id}: ${check.errorMessage ?? ''}`)
    }
  }
  if (expected.length === 0 || missing.length > 0) {
    console.log(run.output)
    console.log(`Not run: ${missing.join(', ')}`)
    failed += Math.max(1, missing.length)
  }
  console.log(`${scenarios.size} scenarios.`)
  const reasons = Object.entries(NOT_APPLICABLE)
  console.log(`Not applicable: ${reasons.length === 0 ? 'none' : ''}`)
  for (const [id, reason] of reasons) console.log(`  ${id}: ${reason}`)
  console.log(`${passed} passed, ${failed} failed`)
  return failed === 0 && passed > 0 ? 0 : 1
}

/** What each scenario found: the suite writes a folder for each, `server-<name>-<time>/checks.json`. */
function scenariosIn(results: string): Map<string, readonly Check[]> {
  const found = new Map<string, readonly Check[]>()
  for (const name of readdirSync(results)) {
    const scenario = name.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '')
    found.set(scenario, JSON.parse(readFileSync(join(results, name, 'checks.json'), 'utf8')) as Check[])
  }
  return found
}

async function scenarioNames(): Promise<string[]> {
  const { output } = await ran([SUITE, 'list', '--server'])
  return [...output.matchAll(/^\s+- (\S+)/gm)].map(([, name = '']) => name)
}

function ran(argv: readonly string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += String(bytes)))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, output }))
  })
}
