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
 * The public conformance suite for MCP servers, in both eras of the protocol and with the Tasks extension, against Reeve's
 * server with the suite's fixtures. Ends with a line `N passed, N failed`; the exit code is 0 only if nothing failed and
 * every scenario was run. Scenarios that the suite itself does not score count here like all others.
 */
const REVISIONS = ['2025-11-25', '2026-07-28']

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
  // The suite's client tells of no roots.
  const url = `${fixtures.url}?folder=${folder}`
  let [passed, failed, scenarios] = [0, 0, 0]
  for (const revision of REVISIONS) {
    const results = join(folder, revision)
    const run = await ran([
      SUITE,
      'server',
      '--url',
      url,
      '--requirements',
      revision,
      '--output-dir',
      results,
    ])
    const found = scenariosIn(results)
    const counted = countedIn(revision, found)
    passed += counted.passed
    failed += counted.failed
    scenarios += found.size
    const expected = await scenarioNames(revision)
    const missing = expected.filter((name) => !found.has(name))
    if (expected.length === 0 || missing.length > 0) {
      console.log(run.output)
      console.log(`Not run of ${revision}: ${missing.join(', ')}`)
      failed += Math.max(1, missing.length)
    }
  }
  await fixtures.close()
  await reeve.close()

  console.log(`${scenarios} scenarios, ${REVISIONS.length} revisions of the protocol.`)
  const reasons = Object.entries(NOT_APPLICABLE)
  console.log(`Not applicable: ${reasons.length === 0 ? 'none' : ''}`)
  for (const [id, reason] of reasons) console.log(`  ${id}: ${reason}`)
  console.log(`${passed} passed, ${failed} failed`)
  return failed === 0 && passed > 0 ? 0 : 1
}

function countedIn(revision: string, scenarios: ReadonlyMap<string, readonly Check[]>) {
  const counted = { passed: 0, failed: 0 }
  for (const [name, checks] of [...scenarios].sort()) {
    for (const { id, status, errorMessage } of checks) {
      if (status === 'INFO' || id in NOT_APPLICABLE) continue
      if (status === 'SUCCESS') counted.passed++
      else if (status === 'FAILURE') counted.failed++
      if (status !== 'SUCCESS') console.log(`${status} ${revision} ${name} ${id}: ${errorMessage ?? ''}`)
    }
  }
  return counted
}

/** The checks of each scenario: the suite writes a folder for each, `server-<name>-<time>/checks.json`. */
function scenariosIn(results: string): Map<string, readonly Check[]> {
  const found = new Map<string, readonly Check[]>()
  for (const name of readdirSync(results)) {
    const scenario = name.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '')
    found.set(scenario, JSON.parse(readFileSync(join(results, name, 'checks.json'), 'utf8')) as Check[])
  }
  return found
}

/** The scenarios for servers: the first list of the suite, and the server scenarios among those that it does not score. */
async function scenarioNames(revision: string): Promise<string[]> {
  const { output } = await ran([SUITE, 'list', '--requirements', revision])
  const [scored = ''] = output.split('Client scenarios')
  const names = (text: string, line: RegExp) => [...text.matchAll(line)].map(([, name = '']) => name)
  return [...names(scored, /^ {2}- (\S+)$/gm), ...names(output, /^ {4}- (\S+) \[server\]/gm)]
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
