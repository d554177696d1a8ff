import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { embed } from 'reeve'
import { ReeveError } from '../../../src/core/errors.ts'
import { serve } from '../../../src/server/server.ts'
import { STREAM_TIMES, streamAnswer } from '../../../src/server/streams/answer.ts'
import { tokenHash } from '../../../src/server/tokens.ts'
import { WrittenStreams } from './written-streams.ts'

/**
 * The public conformance suite for Durable Streams, all groups that read, against Reeve's server: its doors, its answers,
 * and streams that can be written to instead of those of processes. Ends with a line `N passed, N failed`; the exit code
 * is 0 only if nothing failed and every group was run.
 */
const GROUPS = [
  'Read Operations',
  'Long-Poll Operations',
  'Long-Poll Edge Cases',
  'Browser Security Headers',
  'HEAD Metadata',
  'Offset Validation and Resumability',
  'Protocol Edge Cases',
  'Caching and ETag',
  'Chunking and Large Payloads',
  'Read-Your-Writes Consistency',
  'SSE Mode',
  'JSON Mode',
  'Property-Based Tests (fast-check)',
  'Stream Closure',
]

const READ_ONLY = "Reeve's streams are read-only: writing is what verbs are for"
/** Excluded tests with the reason. The first pattern that matches a name counts. */
const NOT_APPLICABLE: readonly (readonly [what: RegExp, why: string])[] = [
  [/^Caching and ETag .*CORS preflight/, 'no page of another site may read here: there is no CORS'],
  [/^HEAD Metadata Edge Cases /, `${READ_ONLY}, and nothing in them expires by a time that a writer set`],
  [/^Protocol Edge Cases .*seq ordering/, `${READ_ONLY} (Stream-Seq)`],
  [/^Property-Based Tests \(fast-check\) (Sequence Ordering|Concurrent Writer)/, `${READ_ONLY} (Stream-Seq)`],
  [
    /^Stream Closure .*(Idempotent Producers|producer-state|close-with-different-body)/,
    `${READ_ONLY} (producers)`,
  ],
]
const GROUPS_LEFT_OUT: Readonly<Record<string, string>> = {
  'Basic Stream Operations, Append Operations, HTTP Protocol, Case-Insensitivity, Content-Type Validation':
    READ_ONLY,
  'TTL and Expiry …': READ_ONLY,
  'Idempotent Producer Operations': READ_ONLY,
  'Fork …': READ_ONLY,
  'Reserved subscription APIs': 'not part of reading, and optional',
}

const TOKEN = 'conformance'
const POLL_MS = 500

const folder = mkdtempSync(join(tmpdir(), 'reeve-streams-'))
try {
  process.exitCode = await main()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function main(): Promise<number> {
  const reeve = await embed({ store: join(folder, 'reeve.db') })
  const streams = new WrittenStreams()
  const closing = new AbortController()
  const times = { ...STREAM_TIMES, pollMs: POLL_MS }
  const server = await serve({
    reeve,
    tokens: { all: () => [{ id: 'suite', role: 'admin', hash: tokenHash(TOKEN), createdAt: 0 }] },
    version: 'conformance',
    log: { debug() {}, info() {}, warn() {}, error() {} },
    listen: { host: '127.0.0.1', port: 0 },
    limits: { bodyBytes: 64 * 1024 * 1024 },
    mount: {
      '/v1/stream/*': async (request) => {
        const { pathname } = new URL(request.url)
        if (request.method !== 'GET' && request.method !== 'HEAD') return streams.write(request, pathname)
        const stream = streams.find(pathname)
        if (stream === undefined)
          throw new ReeveError('not_found', `There is no stream ${pathname}.`, 'Write one.')
        const signal = AbortSignal.any([request.signal, closing.signal])
        return streamAnswer(stream, request, { times, signal, whenSent: () => undefined })
      },
    },
  })
  const results = join(folder, 'results.json')
  const output = await ran(results, { STREAMS_URL: server.url ?? '', STREAMS_TOKEN: TOKEN })
  closing.abort()
  await server.close()
  await reeve.close()
  return report(results, output)
}

interface Results {
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[]
      readonly fullName: string
      readonly status: 'passed' | 'failed' | 'skipped' | 'pending' | 'todo' | 'disabled'
      readonly failureMessages: readonly string[] | null
    }[]
  }[]
}

function report(file: string, output: string): number {
  const { testResults } = JSON.parse(readFileSync(file, 'utf8')) as Results
  const all = testResults.flatMap(({ assertionResults }) => assertionResults)
  let [passed, failed] = [0, 0]
  const leftOut = new Map<string, number>()
  const seen = new Set<string>()
  for (const { ancestorTitles, fullName, status, failureMessages } of all) {
    const group = ancestorTitles.find((title) => title !== '') ?? ''
    const why = NOT_APPLICABLE.find(([what]) => what.test(fullName.trim()))?.[1]
    if (why !== undefined) leftOut.set(why, (leftOut.get(why) ?? 0) + 1)
    if (why !== undefined || !GROUPS.includes(group)) continue
    seen.add(group)
    if (status === 'passed') passed++
    else {
      failed++
      console.log(`${status.toUpperCase()} ${fullName.trim()}: ${failureMessages?.[0]?.split('\n')[0] ?? ''}`)
    }
  }
  const missing = GROUPS.filter((group) => !seen.has(group))
  if (missing.length > 0) {
    console.log(output)
    console.log(`Not run: ${missing.join(', ')}`)
    failed += missing.length
  }
  console.log(`${seen.size} groups.`)
  console.log('Not applicable:')
  for (const [groups, why] of Object.entries(GROUPS_LEFT_OUT)) console.log(`  ${groups}: ${why}`)
  for (const [why, count] of leftOut) console.log(`  ${count} more: ${why}`)
  console.log(`${passed} passed, ${failed} failed`)
  return failed === 0 && passed > 0 ? 0 : 1
}

function ran(results: string, env: Record<string, string>): Promise<string> {
  const root = fileURLToPath(new URL('../../../', import.meta.url))
  const config = fileURLToPath(new URL('vitest.config.ts', import.meta.url))
  const names = `^\\s*(${GROUPS.map((group) => group.replaceAll(/[()]/g, '\\$&')).join('|')}) `
  const options = ['run', '--config', config, '-t', names, '--reporter=json', `--outputFile=${results}`]
  const vitest = fileURLToPath(new URL('../../../node_modules/vitest/vitest.mjs', import.meta.url))
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [vitest, ...options], {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += String(bytes)))
    child.on('error', reject)
    child.on('close', () => resolve(output))
  })
}
