import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Reeve } from 'reeve'
import { expect, test } from 'vitest'
import { codeOf, ended, start, TempReeve } from './commands.ts'

const OUTSIDE = { kind: 'external', spec: { description: 'a plan' } } as const

test('a command’s output and CPU time are charged with its end, and the unused rest is returned', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
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

test('the usage of a command without an allowance is in the sums of its session, and in its own', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  await reeve.openSession({ session: 's1' })
  const one = await start(reeve, 'printf 12345', { owner: { session: 's1' } })
  const other = await start(reeve, 'printf 123')
  for (const { pid } of [one, other]) await ended(reeve, pid)
  expect((await reeve.budget({ session: 's1' })).total.outputBytes).toBe(5)
  expect((await reeve.budget({ pid: one.pid })).total.outputBytes).toBe(5)
  expect((await reeve.budget({ pid: other.pid })).used.outputBytes).toBe(3)
})

test('a command that prints more than its allowance is ended, and that is why', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { record } = await reeve.spawn({
    kind: 'command',
    spec: { run: 'while :; do echo more; done' },
    allowance: { outputBytes: 10_000 },
  })
  const { outcome } = await ended(reeve, record.pid)
  expect(outcome).toMatchObject({ status: 'cancelled', reason: 'limit:outputBytes' })
})

test('a command that is charged for more than it may use is ended with the name of the limit', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { record } = await reeve.spawn({
    kind: 'command',
    spec: { argv: ['sleep', '1000'] },
    allowance: { tokensIn: 10 },
  })
  await reeve.charge({ pid: record.pid, amounts: { tokensIn: 11 }, done: true })
  const { outcome } = await ended(reeve, record.pid)
  expect(outcome).toMatchObject({ status: 'cancelled', reason: 'limit:tokensIn' })
})

test('the usage that a keeper counts cannot be charged by a caller', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(reeve, { argv: ['sleep', '1000'] }, { allowance: { outputBytes: 1_000 } })
  for (const amounts of [{ outputBytes: 1 }, { cpuSeconds: 0.5, toolCalls: 1 }])
    expect(await codeOf(reeve.charge({ pid, amounts }))).toBe('invalid_input')
  expect((await reeve.budget({ pid })).used).toEqual({})
})

test('a command that a limit ended is not started again by its policy', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const spec = { argv: ['yes'], restart: { on: 'always', delayMs: 1 } } as const
  const { pid } = await start(
    reeve,
    { ...spec, argv: ['yes'] },
    { name: 'once', allowance: { outputBytes: 100 } },
  )
  await ended(reeve, pid)
  const { processes } = await reeve.list({ filter: { name: ['once'], status: 'any' } })
  expect(processes.map(({ record }) => record.pid)).toEqual([pid])
})

test('a command runs no longer than a ceiling above it allows', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { record: root } = await reeve.spawn({ ...OUTSIDE, limits: { runMs: 300 } })
  const { record } = await reeve.spawn({
    kind: 'command',
    spec: { argv: ['sleep', '1000'], timeoutMs: 900_000 },
    parent: root.pid,
  })
  const { outcome } = await ended(reeve, record.pid)
  expect(outcome).toMatchObject({ status: 'cancelled', reason: 'limit:runMs' })
  await reeve.end({ pid: root.pid, status: 'completed', replayKey: 'end' })
})

test('a restart by policy has the allowance of its predecessor, less the usage of that one', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  await reeve.openSession({ session: 's1', allowance: { tokensIn: 10, outputBytes: 100 } })
  const { record } = await reeve.spawn({
    kind: 'command',
    spec: { run: 'echo hi; exit 1', restart: { on: 'failure', limit: 2, delayMs: 1 } },
    name: 'again',
    owner: { session: 's1' },
    allowance: { tokensIn: 8, outputBytes: 100 },
  })
  await endedInARow(reeve, record.pid, 3)
  const { processes } = await reeve.list({ filter: { name: ['again'], status: 'any' } })
  expect(processes.map((one) => one.record.limits.allowance)).toEqual([
    { tokensIn: 8, outputBytes: 100 },
    { tokensIn: 8, outputBytes: 97 },
    { tokensIn: 8, outputBytes: 94 },
  ])
  expect(processes.map((one) => one.record.outcome?.exitCode)).toEqual([1, 1, 1])
  expect((await reeve.budget({ session: 's1' })).left).toEqual({ tokensIn: 10, outputBytes: 91 })
  expect(temp.troubles).toEqual([])
})

test('one child that may live at a time is started again by its policy', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { record: root } = await reeve.spawn({ ...OUTSIDE, limits: { liveChildren: 1 } })
  const spec = { run: 'exit 1', restart: { on: 'failure', limit: 2, delayMs: 1 } } as const
  const { pid } = await start(reeve, spec, { parent: root.pid })
  await endedInARow(reeve, pid, 3)
  await reeve.end({ pid: root.pid, status: 'completed', replayKey: 'end' })
})

test('a restart without a remaining allowance does not begin, and is reported as trouble', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { record: root } = await reeve.spawn({ ...OUTSIDE, allowance: { children: 1 } })
  const spec = { run: 'exit 1', restart: { on: 'failure', limit: 2, delayMs: 1 } } as const
  const { pid } = await start(reeve, spec, { parent: root.pid })
  await endedInARow(reeve, pid, 1)
  expect(temp.troubles).toEqual([expect.stringContaining(`restarting ${pid}: RefusedError: limit:children`)])
  await reeve.end({ pid: root.pid, status: 'completed', replayKey: 'end' })
})

test('a command that would get no output or CPU time at all is refused, and nothing is registered', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { record: root } = await reeve.spawn({ ...OUTSIDE, allowance: { outputBytes: 10, cpuSeconds: 5 } })
  const { record: other } = await reeve.spawn({
    ...OUTSIDE,
    parent: root.pid,
    allowance: { outputBytes: 10, cpuSeconds: 1 },
  })
  const below = { kind: 'command', spec: { run: 'true' }, parent: root.pid } as const
  await expect(reeve.spawn(below)).rejects.toMatchObject({
    code: 'limit_exceeded',
    details: { limit: 'outputBytes' },
  })
  for (const allowance of [{ outputBytes: 0 }, { cpuSeconds: 0 }])
    expect(await codeOf(reeve.spawn({ kind: 'command', spec: { run: 'true' }, allowance }))).toBe(
      'limit_exceeded',
    )
  const { processes } = await reeve.list({ filter: { kind: ['command'], status: 'any' } })
  expect(processes).toEqual([])
  await reeve.end({ pid: other.pid, status: 'completed', replayKey: 'end' })
  await reeve.end({ pid: root.pid, status: 'completed', replayKey: 'end' })
})

test('a command that gave half of its allowance to a child prints no more than the rest', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { record: root } = await reeve.spawn({ ...OUTSIDE, allowance: { outputBytes: 1_000 } })
  const one = await start(
    reeve,
    { run: 'read x; head -c 950 /dev/zero; sleep 1000', stdin: 'pipe' },
    { parent: root.pid, allowance: { outputBytes: 1_000 } },
  )
  const below = { parent: one.pid, allowance: { outputBytes: 500 }, lifetime: 'detached' } as const
  const other = await start(reeve, 'head -c 500 /dev/zero', below)
  expect((await ended(reeve, other.pid)).status).toBe('completed')
  await reeve.submit({ pid: one.pid, text: 'go' })
  expect((await ended(reeve, one.pid)).outcome).toMatchObject({ reason: 'limit:outputBytes' })
  await reeve.end({ pid: root.pid, status: 'completed', replayKey: 'end' })
})

test('the unused output allowance of a child returns to its parent, also after a daemon was killed', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const spec = { run: 'read x; head -c 900 /dev/zero', stdin: 'pipe' } as const
  const one = await start(reeve, spec, {
    allowance: { outputBytes: 1_000, cpuSeconds: 60 },
    lifetime: 'detached',
  })
  const below = { parent: one.pid, allowance: { outputBytes: 900 }, lifetime: 'detached' } as const
  const other = await start(reeve, { run: 'read x', stdin: 'pipe' }, below)
  await reeve.close({ keep: true })
  const next = await temp.embed()
  await next.submit({ pid: other.pid, text: 'go' })
  await ended(next, other.pid)
  await next.submit({ pid: one.pid, text: 'go' })
  expect((await ended(next, one.pid)).outcome).toMatchObject({ status: 'completed' })
})

test('a command that gave its CPU time away is ended for its own usage', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const one = await start(reeve, 'while :; do :; done', { allowance: { cpuSeconds: 600 } })
  await start(reeve, 'sleep 1000', { parent: one.pid, allowance: { cpuSeconds: 600 } })
  expect((await ended(reeve, one.pid)).outcome).toMatchObject({ reason: 'limit:cpuSeconds' })
})

test('the limits of a command are set again after the death of its keeper', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const one = await start(
    reeve,
    { argv: ['sh', '-c', 'while [ ! -e go ]; do sleep 0.05; done; head -c 600 /dev/zero; sleep 1000'] },
    { allowance: { outputBytes: 1_000 }, cwd: temp.folder },
  )
  await start(reeve, 'sleep 1000', { parent: one.pid, allowance: { outputBytes: 500 } })
  await temp.killKeeper()
  writeFileSync(join(temp.folder, 'go'), '')
  // The exit of an orphan is not seen: only that it ends counts.
  expect((await ended(reeve, one.pid)).status).toBe('abandoned')
})

/** A chain of this many restarts by policy, after which none follows. */
async function endedInARow(reeve: Reeve, first: string, count: number): Promise<void> {
  for (let pid = first, seen = 1; ; seen++) {
    await ended(reeve, pid)
    const { processes } = await reeve.list({ filter: { status: 'any' } })
    const next = processes.find(({ record }) => record.restartOf === pid)
    if (next === undefined) return expect(seen).toBe(count)
    pid = next.record.pid
  }
}
