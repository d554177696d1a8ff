import { expect, test } from 'vitest'
import { startTimeOf, until } from '../keeper/client.ts'
import { TempReeve } from '../temp-reeve.ts'
import { call, textOf, WAYS } from './connected.ts'

const CLIENT = { era: 'modern' } as const

async function started(temp: TempReeve) {
  const reeve = await temp.embed()
  return { reeve, client: await WAYS.stdio(reeve, CLIENT) }
}

const pidIn = (text: string) => /p_[0-9a-z]{12}/.exec(text)?.[0] ?? ''

test('with output: tagged one stream can be read and searched alone; without it the error says how', async () => {
  await using temp = new TempReeve()
  const { client } = await started(temp)
  const run = 'echo good; echo bad >&2'
  await textOf(client, 'process_start', { run, name: 'tagged', output: 'tagged' })
  const bad = await textOf(client, 'process_log', { pid: 'tagged', stream: 'stderr' })
  expect(bad).toContain('bad')
  expect(bad).not.toContain('good')
  const found = { pid: 'tagged', stream: 'stdout', pattern: 'good|bad' }
  expect(await textOf(client, 'process_search', found)).toMatch(/^1 line matches/)
  await textOf(client, 'process_start', { run, name: 'merged' })
  const refused = await call(client, 'process_log', { pid: 'merged', stream: 'stderr' })
  expect(refused.isError).toBe(true)
  expect(refused.text).toMatch(/output: tagged/)
})

test('no tool lists an argument that never works for an agent', async () => {
  await using temp = new TempReeve()
  const { client } = await started(temp)
  await textOf(client, 'process_start', { run: 'echo hello', name: 'one' })
  const wrong = [
    ['process_log', { pid: 'one', reveal: true }, 'reveal'],
    ['process_search', { pid: 'one', text: 'x', reveal: true }, 'reveal'],
    ['process_screen', { pid: 'one', reveal: true }, 'reveal'],
    ['interrupt', { turn: 't1' }, 'turn'],
    ['interrupt', { toolCall: 'c1' }, 'toolCall'],
  ] as const
  for (const [tool, given, named] of wrong) {
    const { isError, text } = await call(client, tool, given)
    expect(isError).toBe(true)
    expect(text).toContain(`"${named}"`)
  }
})

test('a wrong argument is refused with its name and what it must be', async () => {
  await using temp = new TempReeve()
  const { client } = await started(temp)
  const wrong = [
    ['process_start', {}, /run.*argv/],
    ['process_start', { run: 'true', waitMs: 'soon' }, /waitMs: .*number/],
    ['process_start', { run: 'true', waitMs: 60_000 }, /waitMs: .*30000/],
    ['process_start', { run: 'true', ready: { when: 'up' } }, /ready: .*port/],
    ['process_poll', {}, /pid: .*/],
    ['process_wait', { pid: 'x', until: {} }, /until: give either text or pattern/],
  ] as const
  for (const [tool, given, says] of wrong) {
    const { isError, text } = await call(client, tool, given)
    expect(isError, text).toBe(true)
    expect(text).toMatch(says)
    expect(text).toContain(`Invalid arguments for ${tool}: `)
    expect(text).toContain('(invalid_input)')
  }
})

test('an interrupt takes a name, and reaches all processes only with all: true', async () => {
  await using temp = new TempReeve()
  const { client } = await started(temp)
  for (const name of ['a', 'b', 'c'])
    await textOf(client, 'process_start', { run: 'sleep 60', name, waitMs: 0 })
  for (const given of [{}, { all: false }, { all: true, pid: 'a' }])
    expect(await call(client, 'interrupt', given)).toMatchObject({ isError: true })
  expect((await call(client, 'interrupt', {})).text).toMatch(/pid.*all: true/s)
  expect(await textOf(client, 'process_list')).toMatch(/\(c\).*\(b\).*\(a\)/s)
  const one = await call(client, 'interrupt', { pid: 'b' })
  expect(one).toMatchObject({ isError: false, structured: { matched: 1 } })
  expect(await textOf(client, 'process_wait', { pid: 'b' })).toContain('interrupted')
  expect((await call(client, 'interrupt', { all: true })).structured).toMatchObject({ matched: 2 })
})

test('a duplicate of a running command is noted, a duplicate of an ended one is not', async () => {
  await using temp = new TempReeve()
  const { client } = await started(temp)
  await textOf(client, 'process_start', { run: 'true' })
  expect(await textOf(client, 'process_start', { run: 'true' })).not.toContain('same command')
  const first = await textOf(client, 'process_start', { run: 'sleep 60', waitMs: 0 })
  const second = await textOf(client, 'process_start', { run: 'sleep 60', waitMs: 0 })
  expect(second).toContain(`${pidIn(first)} runs the same command`)
})

test('unset variables of passEnv are named', async () => {
  await using temp = new TempReeve()
  const { client } = await started(temp)
  const text = await textOf(client, 'process_start', { run: 'true', passEnv: ['NO_SUCH_TOKEN'] })
  expect(text).toMatch(/passEnv.*NO_SUCH_TOKEN/)
})

test('start, wait and poll report children that a shell left running, and process_kill ends them', async () => {
  await using temp = new TempReeve()
  const { client } = await started(temp)
  const run = 'sleep 1000 & echo "child $!"'
  const begun = await textOf(client, 'process_start', { run, waitMs: 20_000 })
  const pid = pidIn(begun)
  const child = Number(/child (\d+)/.exec(begun)?.[1])
  const before = startTimeOf(child)
  expect(before).not.toBe('')
  const told = /still running in the background.*process_kill/s
  expect(begun).toMatch(/completed \(exit code 0\)/)
  expect(begun).toMatch(told)
  expect(await textOf(client, 'process_wait', { pid })).toMatch(told)
  expect(await textOf(client, 'process_poll', { pid })).toMatch(told)
  expect(await textOf(client, 'process_kill', { pid })).toContain('left running')
  await until('the child is gone', () => startTimeOf(child) !== before)
})

test('every tool renders output as a terminal would, and the log also gives it raw', async () => {
  await using temp = new TempReeve()
  const { client } = await started(temp)
  const run = String.raw`printf 'a\r\n 10%%\r 50%%\r100%%\nlong line\r\033[Kshort\n\033[31mred\033[0m\n'`
  const shown = 'a\n100%\nshort\nred'
  expect(await textOf(client, 'process_start', { run, name: 'bar', waitMs: 20_000 })).toContain(shown)
  expect(await textOf(client, 'process_log', { pid: 'bar' })).toContain(shown)
  expect(await textOf(client, 'process_search', { pid: 'bar', text: 'short' })).toContain('3: short')
  const raw = await textOf(client, 'process_log', { pid: 'bar', raw: true })
  expect(raw).toContain(' 10%\r 50%\r100%')
  expect(raw).toContain('\x1b[31mred')
  const waiting = String.raw`read x; printf ' 10%%\r 99%%\n'; exec sleep 60`
  await textOf(client, 'process_start', { run: waiting, name: 'wait', stdin: 'pipe', waitMs: 0 })
  await textOf(client, 'process_write', { pid: 'wait', text: 'go', enter: true, waitMs: 0 })
  const waited = await textOf(client, 'process_wait', { pid: 'wait', until: { text: '99%' } })
  expect(waited).toMatch(/^Printed: 99%/)
  for (const text of [waited, await textOf(client, 'process_poll', { pid: 'wait' })])
    expect(text).not.toContain('\r')
})

test('the log and a search count lines from 1, consistently', async () => {
  await using temp = new TempReeve()
  const { client } = await started(temp)
  await textOf(client, 'process_start', { run: 'seq 101 120', name: 'lines', waitMs: 20_000 })
  const last = await textOf(client, 'process_log', { pid: 'lines', limit: 5 })
  expect(last).toMatch(/^Lines 16 to 20 of 20/)
  expect(last).toContain('earlier: {"line":11,"limit":5}')
  const earlier = await textOf(client, 'process_log', { pid: 'lines', line: 11, limit: 5 })
  expect(earlier).toMatch(/^Lines 11 to 15 of 20.*\n111\n112\n113\n114\n115$/)
  const found = await textOf(client, 'process_search', { pid: 'lines', text: '107' })
  expect(found).toContain('7: 107')
  expect(await textOf(client, 'process_log', { pid: 'lines', line: 7, limit: 1 })).toMatch(/\n107$/)
  const screen = { run: 'printf abc; exec sleep 60', name: 'tty', pty: true, waitMs: 0 }
  await textOf(client, 'process_start', screen)
  await textOf(client, 'process_wait', { pid: 'tty', until: { text: 'abc' } })
  expect(await textOf(client, 'process_screen', { pid: 'tty' })).toContain('cursor at row 1, column 4')
})
