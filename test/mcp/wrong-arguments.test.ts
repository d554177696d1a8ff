import { expect, test } from 'vitest'
import { embedTemp } from '../embed-temp.ts'
import { call, overStdio } from './connected.ts'

async function connected() {
  const reeve = await embedTemp()
  return overStdio(reeve, { era: 'modern' })
}

test.each([
  ['process_start', { run: 'ls', waitMs: 60_000 }, 'waitMs: must be at most 30000 ('],
  ['process_start', { run: 'ls', waitMs: -1 }, 'waitMs: must be at least 0 ('],
  ['process_start', { run: 'ls', waitMs: 'soon' }, 'waitMs: must be a number ('],
  ['process_start', { run: 'ls', waitMs: 1.5 }, 'waitMs: must be an integer ('],
  ['process_start', { run: '' }, 'run: must not be empty ('],
  ['process_start', { run: 'ls', ready: 'up' }, 'ready: must be an object such as {"log":"…"} ('],
  ['process_start', { run: 'ls', ready: { when: 'up' } }, 'ready: must be an object such as {"log":"…"} ('],
  ['process_start', { run: 'ls', ready: { port: 'web' } }, 'ready.port: must be a number'],
  ['process_start', { run: 'ls', watch: 'ERROR' }, 'watch: must be a list such as [{"text":"…"}] ('],
  ['process_start', { run: 'ls', restart: { on: 'exit' } }, 'restart.on: must be one of'],
  ['process_start', { run: 'ls', output: 'both' }, 'output: must be one of "merged", "tagged" ('],
  ['process_start', { run: 'ls', lifetime: 'forever' }, 'lifetime: must be one of "session", "detached" ('],
  ['process_list', { status: 'stopped' }, 'status: must be one of "any", "running", "completed", '],
  ['process_list', { limit: 1_000 }, 'limit: must be at most 200.'],
  ['process_log', { pid: 'x', raw: 'yes' }, 'raw: must be true or false.'],
  ['process_poll', {}, 'pid: is needed ('],
])('%s with %j says in plain words what the argument must be', async (tool, given, says) => {
  const { isError, text } = await call(await connected(), tool, given)
  expect(isError).toBe(true)
  expect(text).toContain(says)
  expect(text).not.toMatch(/Invalid (input|option)|Too (big|small)|expected/)
})

test('the error for an unknown argument names every argument, listed or not', async () => {
  const { text } = await call(await connected(), 'process_start', { run: 'ls', bogus: 1 })
  expect(text).toContain('no argument "bogus"')
  for (const known of ['run', 'maxChars', 'env', 'passEnv', 'notify', 'heartbeatMs', 'idempotencyKey'])
    expect(text).toMatch(new RegExp(`there are .*\\b${known}\\b`))
})
