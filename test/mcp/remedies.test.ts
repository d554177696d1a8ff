import { expect, test } from 'vitest'
import { type ErrorCode, ReeveError } from '../../src/core/errors.ts'
import { remedyFor } from '../../src/mcp/remedies.ts'
import { verbs } from '../../src/verbs/reeve.ts'
import { embedTemp } from '../embed-temp.ts'
import { call, overStdio } from './connected.ts'

/** The verbs that tools and their sessions call. */
const CALLED = [
  ...([
    'spawn',
    'wait',
    'poll',
    'log',
    'search',
    'screen',
    'output',
    'show',
    'list',
    'kill',
    'restart',
  ] as const),
  ...(['interrupt', 'submit', 'write', 'closeInput', 'notices', 'acknowledge'] as const),
  ...(['sessions', 'openSession', 'touchSession', 'changeOwner'] as const),
]
const TROUBLE = [
  ...([
    'closed',
    'daemon_unreachable',
    'keeper_unavailable',
    'outcome_unknown',
    'internal',
    'forbidden',
  ] as const),
  ...(['store_busy', 'store_corrupt', 'store_full', 'store_read_only', 'store_unavailable'] as const),
  ...([
    'unauthorized',
    'too_many_connections',
    'too_many_requests',
    'body_too_large',
    'bad_request',
  ] as const),
]
/** Terms of the command line, the library and the configuration, which a model cannot use. */
const NOT_FOR_MODELS =
  /\breeve [a-z]|\bembed\b|\bconnect\(|commands\.\w+|REEVE_|\bprune options\b|\bselector|\btoken create\b|\bshow has\b|\blist the processes\b/i

test('every remedy is something a model can do: with an existing tool, or by telling the user', async () => {
  const reeve = await embedTemp()
  const client = await overStdio(reeve, { era: 'modern' })
  const { tools } = await client.listTools()
  const names = tools.map(({ name }) => name)
  const codes = new Set<ErrorCode>([...CALLED.flatMap((verb) => verbs[verb].codes), ...TROUBLE])
  codes.delete('invalid_input')
  expect(codes.size).toBeGreaterThan(30)
  for (const code of codes) {
    const remedy = remedyFor(new ReeveError(code, 'It happened.', 'Start one with reeve up.'))
    expect(remedy, code).not.toMatch(NOT_FOR_MODELS)
    expect(remedy, code).toMatch(/\w\.$/)
    for (const [named] of remedy.matchAll(/\bprocess_\w+/g)) expect(names, code).toContain(named)
  }
  // And as they come from the verbs themselves.
  await call(client, 'process_start', { run: 'true', name: 'registered', waitMs: 0 })
  const refused = [
    ...names.flatMap((name) => [
      [name, { pid: 'nobody', text: 'x' }] as const,
      [name, { pid: 'p_000000000000' }] as const,
      [name, { pid: 'registered', until: { pattern: '(' }, pattern: '(', text: 'x' }] as const,
      [name, { pid: 'registered', text: 'x' }] as const,
      [name, { pid: 'registered' }] as const,
    ]),
    ['process_wait', { pid: 'registered', ready: true, timeoutMs: 1 }],
    ['process_wait', { pid: 'registered', until: { pattern: '(' }, timeoutMs: 1 }],
    ['process_search', { pid: 'registered', pattern: '(?=x)' }],
    ['process_start', { run: 'true', watch: [{ pattern: '(' }] }],
    ['process_start', { run: 'true', cwd: 'relative' }],
  ] as const
  let seen = 0
  for (const [name, given] of refused) {
    if (name === 'process_wait' && !('timeoutMs' in given)) Object.assign(given, { timeoutMs: 1 })
    const { isError, text } = await call(client, name, given)
    if (!isError) continue
    seen++
    expect(text, name).not.toMatch(NOT_FOR_MODELS)
    for (const [named] of text.matchAll(/\bprocess_\w+/g)) expect(names, text).toContain(named)
  }
  expect(seen).toBeGreaterThan(20)
})
