import { expect, test } from 'vitest'
import { TempReeve } from '../temp-reeve.ts'
import { call, textOf, WAYS } from './connected.ts'

const TIMEOUT = { timeout: 120_000 }
/** Longer than a busy machine takes; answers come earlier. */
const LONG_MS = 30_000

async function connected(temp: TempReeve) {
  return WAYS.stdio(await temp.embed(), { era: 'modern' })
}

test(
  'process_start and process_restart answer as soon as the command is ready, and say so',
  TIMEOUT,
  async () => {
    await using temp = new TempReeve()
    const client = await connected(temp)
    const given = {
      run: 'echo booted; exec sleep 600',
      name: 'web',
      ready: { log: 'booted' },
      waitMs: LONG_MS,
    }
    expect(await textOf(client, 'process_start', given)).toMatch(
      /^It is ready\. p_\w+ \(web\) has been running/,
    )
    const again = await textOf(client, 'process_restart', { pid: 'web', waitMs: LONG_MS })
    expect(again).toMatch(/^It is ready\. p_\w+ \(web\) has been running/)
  },
)

test('process_start says that a command is not ready yet, and how to wait for that', TIMEOUT, async () => {
  await using temp = new TempReeve()
  const client = await connected(temp)
  const given = { run: 'read go; echo booted; exec sleep 600', stdin: 'pipe', name: 'web', waitMs: 50 }
  const started = await textOf(client, 'process_start', { ...given, ready: { log: 'booted' } })
  expect(started).toMatch(/^Not ready yet\. /)
  expect(started).toContain('process_wait with ready: true')
  await textOf(client, 'process_write', { pid: 'web', text: 'go', enter: true })
  expect(await textOf(client, 'process_wait', { pid: 'web', ready: true })).toMatch(/^It is ready\. /)
})

test('a wait for a line that an ended process never printed says so', TIMEOUT, async () => {
  await using temp = new TempReeve()
  const client = await connected(temp)
  const given = { run: 'echo hello', name: 'short', ready: { log: 'booted' }, waitMs: LONG_MS }
  const started = await textOf(client, 'process_start', given)
  expect(started).toMatch(/^It ended and was never ready\. p_\w+ \(short\) completed \(exit code 0\)/)
  const ready = await textOf(client, 'process_wait', { pid: 'short', ready: true })
  expect(ready).toMatch(/^It ended and was never ready\. p_\w+ \(short\) completed/)
  const line = await textOf(client, 'process_wait', { pid: 'short', until: { text: 'zzz' } })
  expect(line).toMatch(/^It ended without printing that\. p_\w+ \(short\) completed/)
  expect(await textOf(client, 'process_wait', { pid: 'short' })).toMatch(/^p_\w+ \(short\) completed/)

  await textOf(client, 'process_start', { run: 'read line', name: 'reader', stdin: 'pipe', waitMs: 0 })
  const typed = { pid: 'reader', text: 'bye', enter: true, until: { text: 'zzz' }, waitMs: LONG_MS }
  expect(await textOf(client, 'process_write', typed)).toMatch(/^It ended without printing that\. /)
})

test('a process that was ready and has ended is not called ready', TIMEOUT, async () => {
  await using temp = new TempReeve()
  const client = await connected(temp)
  const given = { run: 'echo booted; read end', name: 'web', stdin: 'pipe', ready: { log: 'booted' } }
  await textOf(client, 'process_start', { ...given, waitMs: LONG_MS })
  await textOf(client, 'process_write', { pid: 'web', enter: true })
  await textOf(client, 'process_wait', { pid: 'web' })
  const waited = await textOf(client, 'process_wait', { pid: 'web', ready: true })
  expect(waited).toMatch(/^It was ready, and has ended since\. p_\w+ \(web\) completed/)
})

test('a process with a pending restart is said to start again, not to be ready', TIMEOUT, async () => {
  await using temp = new TempReeve()
  const client = await connected(temp)
  const restart = { on: 'failure', delayMs: 60_000 }
  await textOf(client, 'process_start', { run: 'exit 2', name: 'crash', restart, waitMs: LONG_MS })
  expect(await textOf(client, 'process_list')).toMatch(/\(crash\) starts again in \d+ s: exit 2$/)
  expect(await textOf(client, 'process_poll', { pid: 'crash' })).toMatch(/\(crash\) starts again in \d+ s: /)
})

test('an end that is followed by a restart names the next process', TIMEOUT, async () => {
  await using temp = new TempReeve()
  const client = await connected(temp)
  const restart = { on: 'failure', delayMs: 60_000, limit: 1 }
  const given = { run: 'exit 2', name: 'crash', restart, waitMs: LONG_MS }
  const { text } = await call(client, 'process_start', given)
  const [, next = ''] = /failed \(exit code 2\)[^\n]*restarted as (p_\w+)/.exec(text) ?? []
  expect(next, text).toMatch(/^p_/)
  expect(await textOf(client, 'process_poll', { pid: 'crash' })).toContain(next)
})

test(
  'process_wait by name answers about the process that it waited for, although a restart has its name by then',
  TIMEOUT,
  async () => {
    await using temp = new TempReeve()
    const client = await connected(temp)
    const restart = { on: 'failure', delayMs: 500, limit: 2 }
    const run = 'echo crash; sleep 0.3; exit 2'
    await textOf(client, 'process_start', { run, name: 'crash', restart, waitMs: LONG_MS })
    const waited = await textOf(client, 'process_wait', { pid: 'crash', timeoutMs: LONG_MS })
    expect(waited).toMatch(/^p_\w+ \(crash\) failed \(exit code 2\)[^\n]*\ncrash/)
  },
)

test('a note on a name in use says which process the name refers to', TIMEOUT, async () => {
  await using temp = new TempReeve()
  const client = await connected(temp)
  const first = await textOf(client, 'process_start', { run: 'exec sleep 600', name: 'x', waitMs: 0 })
  const [pid = ''] = /^p_\w+/.exec(first) ?? []
  const ended = await textOf(client, 'process_start', { run: 'exit 1', name: 'x', waitMs: LONG_MS })
  expect(ended).toContain(`Note: the name refers to ${pid} again, which still runs.`)
  const live = await textOf(client, 'process_start', { run: 'exec sleep 601', name: 'x', waitMs: 0 })
  expect(live).toContain(
    `Note: ${pid} has this name, too, and still runs: the name refers to the new one now.`,
  )
})

test('the answer for a running process names only tools that work with it', TIMEOUT, async () => {
  await using temp = new TempReeve()
  const client = await connected(temp)
  const next = async (given: object) =>
    /Next: .*/.exec(await textOf(client, 'process_start', { waitMs: 0, ...given }))?.[0]
  const plain = await next({ run: 'exec sleep 601' })
  expect(plain).toContain('process_wait')
  expect(plain).not.toMatch(/process_write|process_screen/)
  const piped = await next({ run: 'exec sleep 602', stdin: 'pipe' })
  expect(piped).toContain('process_write')
  expect(piped).not.toContain('process_screen')
  expect(await next({ run: 'exec sleep 603', pty: true })).toMatch(/process_write.*process_screen/)
})

test(
  'process_write waits for a reply, and does not take the echo of a terminal for one',
  TIMEOUT,
  async () => {
    await using temp = new TempReeve()
    const client = await connected(temp)
    const run = 'while printf "> "; read -r line; do echo "reply: $line"; done'
    await textOf(client, 'process_start', { run, name: 'repl', pty: true, waitMs: 0 })
    const typed = { pid: 'repl', enter: true, waitMs: LONG_MS }
    for (const text of ['hello', 'two\nlines']) {
      const [last = ''] = text.split('\n').slice(-1)
      const written = await textOf(client, 'process_write', { ...typed, text, until: { text: last } })
      expect(written).toMatch(new RegExp(`^Printed: (> )*reply: ${last}\n`))
    }
    // The echo does not match, and the reply ends with the typed text.
    const until = { text: 'reply: again' }
    const written = await textOf(client, 'process_write', { ...typed, text: 'again', until })
    expect(written).toMatch(/^Printed: (> )*reply: again\n/)
  },
)
