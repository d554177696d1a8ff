import { expect, test } from 'vitest'
import { ended, Household } from './household.ts'

const OUTSIDE = { kind: 'external', spec: { description: 'a plan' } } as const

test('a command’s output and CPU time are charged with its end, and what is unused is back', async () => {
  await using house = new Household()
  const reeve = await house.open()
  const allowance = { outputBytes: 1_000, cpuSeconds: 100 }
  const { record: root } = await reeve.spawn({ ...OUTSIDE, allowance })
  const { record } = await reeve.spawn({
    kind: 'command',
    spec: { run: 'printf 12345' },
    parent: root.pid,
    allowance: { outputBytes: 400 },
  })
  expect(record.limits.allowance).toEqual({ outputBytes: 400, cpuSeconds: 50 })
  expect((await reeve.budget({ pid: root.pid })).left).toEqual({ outputBytes: 600, cpuSeconds: 50 })
  await ended(reeve, record.pid)
  const { left, total } = await reeve.budget({ pid: root.pid })
  expect(left.outputBytes).toBe(995)
  expect(total.outputBytes).toBe(5)
  expect(left.cpuSeconds).toBeGreaterThan(90)
  await reeve.end({ pid: root.pid, status: 'completed', replayKey: 'end' })
})

test('a command that prints more than its allowance is ended, and that is why', async () => {
  await using house = new Household()
  const reeve = await house.open()
  const { record } = await reeve.spawn({
    kind: 'command',
    spec: { run: 'while :; do echo more; done' },
    allowance: { outputBytes: 10_000 },
  })
  const { outcome } = await ended(reeve, record.pid)
  expect(outcome).toMatchObject({ status: 'failed', reason: 'limit:output' })
})

test('a command that is charged for more than it may use is ended with the name of the limit', async () => {
  await using house = new Household()
  const reeve = await house.open()
  const { record } = await reeve.spawn({
    kind: 'command',
    spec: { argv: ['sleep', '1000'] },
    allowance: { tokensIn: 10 },
  })
  await reeve.charge({ pid: record.pid, amounts: { tokensIn: 11 }, done: true })
  const { outcome } = await ended(reeve, record.pid)
  expect(outcome).toMatchObject({ status: 'cancelled', reason: 'limit:tokensIn' })
})

test('a command runs no longer than a ceiling above it allows', async () => {
  await using house = new Household()
  const reeve = await house.open()
  const { record: root } = await reeve.spawn({ ...OUTSIDE, limits: { runMs: 300 } })
  const { record } = await reeve.spawn({
    kind: 'command',
    spec: { argv: ['sleep', '1000'], timeoutMs: 900_000 },
    parent: root.pid,
  })
  const { outcome } = await ended(reeve, record.pid)
  expect(outcome).toMatchObject({ status: 'failed', reason: 'timeout' })
  await reeve.end({ pid: root.pid, status: 'completed', replayKey: 'end' })
})

test('a command that is started again by its policy gets what is left, if that is less than it had', async () => {
  await using house = new Household()
  const reeve = await house.open()
  await reeve.openSession({ session: 's1', allowance: { tokensIn: 10 } })
  const { record } = await reeve.spawn({
    kind: 'command',
    spec: { run: 'exit 1', restart: { on: 'failure', limit: 1, delayMs: 1 } },
    name: 'again',
    owner: { session: 's1' },
    allowance: { tokensIn: 8 },
  })
  await ended(reeve, record.pid)
  const { processes } = await reeve.list({ filter: { name: ['again'], status: 'any' } })
  expect(processes.map((one) => one.record.limits.allowance)).toEqual([{ tokensIn: 8 }, { tokensIn: 2 }])
  await ended(reeve, processes[1]?.record.pid ?? '')
  expect((await reeve.budget({ session: 's1' })).left).toEqual({ tokensIn: 10 })
})
