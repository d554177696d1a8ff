import { embed, type ReeveError } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { tempStore } from '../temp-folder.ts'

const OUTSIDE = { kind: 'external', spec: { description: 'x' } } as const

async function opened() {
  const reeve = await embed({
    store: tempStore(),
    tools: { sleep: ({ abortSignal: signal }) => untilAborted(signal) },
  })
  onTestFinished(() => reeve.close())
  return reeve
}

test('a charge beyond the rest is refused with the name of the limit, and charges nothing', async () => {
  const reeve = await opened()
  const { record } = await reeve.spawn({ ...OUTSIDE, allowance: { modelCalls: 2 } })
  const { pid } = record
  expect(record.limits.allowance).toEqual({ modelCalls: 2 })
  expect(await reeve.charge({ pid, amounts: { modelCalls: 1, tokensIn: 900 } })).toEqual({
    given: { modelCalls: 2 },
    used: { modelCalls: 1, tokensIn: 900 },
    left: { modelCalls: 1 },
    ended: false,
  })
  await expect(reeve.charge({ pid, amounts: { modelCalls: 2 } })).rejects.toMatchObject({
    code: 'limit_exceeded',
    details: { limit: 'modelCalls', left: 1, asked: 2 },
  })
  expect((await reeve.budget({ pid })).left).toEqual({ modelCalls: 1 })
})

test('an overrun found after the work ends a process that runs, with the limit as the reason', async () => {
  const reeve = await opened()
  const { record } = await reeve.spawn({ kind: 'tool', spec: { tool: 'sleep' }, allowance: { cost: 0.5 } })
  const { pid } = record
  const charged = await reeve.charge({ pid, amounts: { cost: 0.75 }, done: true })
  expect(charged).toMatchObject({ ended: true, left: { cost: 0 }, used: { cost: 0.75 } })
  const ended = await reeve.wait({ pid })
  expect(ended).toMatchObject({ record: { outcome: { status: 'cancelled', reason: 'limit:cost' } } })
})

test('use is summed up for a process, its tree and its session, while they live and after', async () => {
  const reeve = await opened()
  await reeve.openSession({ session: 's1', allowance: { toolCalls: 100 } })
  const { record: root } = await reeve.spawn({ ...OUTSIDE, owner: { session: 's1' } })
  const { record: middle } = await reeve.spawn({ ...OUTSIDE, parent: root.pid, allowance: { toolCalls: 20 } })
  const { record: leaf } = await reeve.spawn({ ...OUTSIDE, parent: middle.pid })
  for (const { pid } of [root, middle, leaf]) await reeve.charge({ pid, amounts: { toolCalls: 3 } })
  const total = async (of: { pid: string } | { session: string }) => (await reeve.budget(of)).total.toolCalls
  const sums = () =>
    Promise.all([...[leaf, middle, root].map(({ pid }) => total({ pid })), total({ session: 's1' })])
  expect(await sums()).toEqual([3, 6, 9, 9])
  for (const { pid } of [middle, leaf, root]) {
    await reeve.end({ pid, status: 'completed', replayKey: 'end' })
    expect(await sums()).toEqual([3, 6, 9, 9])
  }
  expect((await reeve.budget({ session: 's1' })).left).toEqual({ toolCalls: 91 })
  const { processes } = await reeve.list({ filter: { status: 'any' }, budgets: true })
  expect(processes.map(({ budget }) => budget?.total.toolCalls)).toEqual([9, 6, 3])
})

test('sums skip processes without an allowance or a charge', async () => {
  const reeve = await opened()
  const { record: root } = await reeve.spawn(OUTSIDE)
  const { record: middle } = await reeve.spawn({ ...OUTSIDE, parent: root.pid })
  const { record: leaf } = await reeve.spawn({ ...OUTSIDE, parent: middle.pid })
  await reeve.charge({ pid: leaf.pid, amounts: { tokensOut: 7 } })
  expect((await reeve.budget({ pid: root.pid })).total).toEqual({ tokensOut: 7 })
  await reeve.end({ pid: leaf.pid, status: 'completed', replayKey: 'end' })
  await reeve.prune({ keep: 0 })
  expect((await reeve.budget({ pid: root.pid })).total).toEqual({ tokensOut: 7 })
  const { record: other } = await reeve.spawn(OUTSIDE)
  expect(await reeve.budget({ pid: other.pid })).toEqual({ given: {}, used: {}, total: {}, left: {} })
})

test('a tool leaves children, tokens and cost to its parent, and cannot spend what it did not ask for', async () => {
  const reeve = await opened()
  const allowance = { children: 1, tokensIn: 1_000, cost: 1 }
  const { record: parent } = await reeve.spawn({ ...OUTSIDE, limits: { liveChildren: 1 }, allowance })
  const tool = { kind: 'tool', spec: { tool: 'sleep' }, parent: parent.pid } as const
  const { record: first } = await reeve.spawn(tool)
  const { record: second } = await reeve.spawn({ ...tool, allowance: { cost: 0.25 } })
  await reeve.spawn({ ...OUTSIDE, parent: parent.pid, allowance: { tokensIn: 1_000, cost: 0.75 } })
  await expect(reeve.charge({ pid: first.pid, amounts: { tokensIn: 1 } })).rejects.toMatchObject({
    code: 'limit_exceeded',
    details: { limit: 'tokensIn', left: 0, asked: 1 },
  })
  await reeve.charge({ pid: second.pid, amounts: { cost: 0.25 } })
  expect((await reeve.budget({ pid: parent.pid })).left).toEqual({ children: 0, tokensIn: 0, cost: 0 })
})

test('a restart asks for the same allowance again', async () => {
  const reeve = await opened()
  const { record: root } = await reeve.spawn({ ...OUTSIDE, allowance: { toolCalls: 40 } })
  const { record } = await reeve.spawn({ kind: 'tool', spec: { tool: 'sleep' }, parent: root.pid })
  // Each of the two runs of a tool is a call.
  expect(record.limits.allowance).toEqual({ toolCalls: 19 })
  const { record: next } = await reeve.restart({ pid: record.pid })
  expect(next.limits.allowance).toEqual({ toolCalls: 19 })
  expect((await reeve.budget({ pid: root.pid })).left).toEqual({ toolCalls: 19 })
})

test('a session charges its own processes and reads its own budget only', async () => {
  const reeve = await opened()
  await reeve.openSession({ session: 's1' })
  await reeve.openSession({ session: 's2' })
  const { record } = await reeve.spawn({ ...OUTSIDE, owner: { session: 's1' } })
  const { pid } = record
  await reeve.as('session:s1').charge({ pid, amounts: { toolCalls: 1 } })
  const other = reeve.as('session:s2')
  await expect(other.charge({ pid, amounts: { toolCalls: 1 } })).rejects.toMatchObject({
    name: 'RefusedError',
  })
  await expect(other.budget({ session: 's1' })).rejects.toMatchObject({ code: 'denied' })
  expect((await reeve.as('session:s1').budget({ session: 's1' })).total).toEqual({ toolCalls: 1 })
})

test('a charge that is repeated under its key is charged once, and another one under it is a conflict', async () => {
  const reeve = await opened()
  const { record } = await reeve.spawn({ kind: 'tool', spec: { tool: 'sleep' }, allowance: { cost: 1 } })
  const { pid } = record
  const charging = { pid, amounts: { cost: 0.5 }, replayKey: 'call-1' }
  const first = await reeve.charge(charging)
  expect(await reeve.charge(charging)).toEqual(first)
  await expect(reeve.charge({ ...charging, amounts: { cost: 0.25 } })).rejects.toMatchObject({
    code: 'replay_conflict',
  })
  expect((await reeve.budget({ pid })).used).toEqual({ cost: 0.5 })
  const over = { pid, amounts: { cost: 2 }, done: true, replayKey: 'call-2' }
  await reeve.charge(over)
  await reeve.wait({ pid })
  // Also if the charge itself ended the process.
  expect(await reeve.charge(over)).toMatchObject({ used: { cost: 2.5 }, ended: true })
})

test('a tool charges itself, and a later attempt does not repeat the charge', async () => {
  const store = tempStore()
  const reached = Promise.withResolvers<void>()
  const first = await embed({
    store,
    tools: {
      work: async ({ charge, abortSignal: signal }) => {
        await charge({ cost: 0.5 })
        reached.resolve()
        return untilAborted(signal)
      },
    },
  })
  const { record } = await first.spawn({
    kind: 'tool',
    spec: { tool: 'work' },
    recovery: 'rerunnable',
    allowance: { cost: 1 },
  })
  const { pid } = record
  await reached.promise
  await first.close()
  const third = await embed({
    store,
    tools: {
      work: async ({ charge }) => {
        await charge({ cost: 0.5 })
        await charge({ cost: 0.125 }, { done: true })
        const refused = await charge({ cost: 5 }).catch((error: ReeveError) => error.code)
        const wrong = await charge({ cost: -1 }).catch((error: ReeveError) => error.code)
        return [refused ?? null, wrong ?? null]
      },
    },
  })
  onTestFinished(() => third.close())
  expect(await third.wait({ pid })).toMatchObject({
    record: { outcome: { result: ['limit_exceeded', 'invalid_input'] } },
  })
  expect((await third.budget({ pid })).used).toEqual({ cost: 0.625 })
})

test('ceilings are passed on whole, and a child may only lower them', async () => {
  const reeve = await opened()
  const limits = { liveChildren: 3, runMs: 60_000, memoryBytes: 64 * 1_048_576 }
  const { record: root } = await reeve.spawn({ ...OUTSIDE, limits })
  const { record: one } = await reeve.spawn({ ...OUTSIDE, parent: root.pid, limits: { runMs: 90_000 } })
  const { record: two } = await reeve.spawn({ ...OUTSIDE, parent: root.pid, limits: { runMs: 1_000 } })
  expect(one.limits).toMatchObject(limits)
  expect(two.limits).toMatchObject({ ...limits, runMs: 1_000 })
})

test('a tool that exceeds its time limit is stopped, with all its descendants', async () => {
  const reeve = await opened()
  const limits = { runMs: 50 }
  const { record } = await reeve.spawn({ kind: 'tool', spec: { tool: 'sleep' }, limits })
  const { record: root } = await reeve.spawn({ ...OUTSIDE, limits })
  const { record: below } = await reeve.spawn({ kind: 'tool', spec: { tool: 'sleep' }, parent: root.pid })
  for (const { pid } of [record, below])
    expect(await reeve.wait({ pid })).toMatchObject({
      record: { outcome: { status: 'cancelled', reason: 'limit:runMs' } },
    })
  expect((await reeve.show({ pid: root.pid })).outcome).toBeNull()
})

test('a memory limit is refused where it cannot be enforced', async () => {
  const reeve = await opened()
  const limits = { memoryBytes: 64 * 1_048_576 }
  const tool = { kind: 'tool', spec: { tool: 'sleep' } } as const
  await expect(reeve.spawn({ ...tool, limits })).rejects.toMatchObject({ code: 'invalid_input' })
  const { record: root } = await reeve.spawn({ ...OUTSIDE, limits })
  const { record: below } = await reeve.spawn({ ...tool, parent: root.pid })
  expect(below.limits.memoryBytes).toBe(limits.memoryBytes)
  expect((await reeve.restart({ pid: below.pid })).record.limits.memoryBytes).toBe(limits.memoryBytes)
  await expect(
    reeve.spawn({ ...tool, parent: root.pid, limits: { memoryBytes: 2 * 1_048_576 } }),
  ).rejects.toMatchObject({ code: 'invalid_input' })
})

test('a session that is opened again has its own allowance, even if processes of the old one return theirs', async () => {
  const reeve = await opened()
  await reeve.openSession({ session: 's1', allowance: { toolCalls: 10 } })
  const { record } = await reeve.spawn({
    ...OUTSIDE,
    owner: { session: 's1' },
    lifetime: 'detached',
    allowance: { toolCalls: 10 },
  })
  await reeve.deleteSession({ session: 's1' })
  await reeve.openSession({ session: 's1', allowance: { toolCalls: 3 } })
  await reeve.end({ pid: record.pid, status: 'completed', replayKey: 'end' })
  expect((await reeve.budget({ session: 's1' })).left).toEqual({ toolCalls: 3 })
})

test('a session can neither set nor remove its own allowance', async () => {
  const reeve = await opened()
  await reeve.openSession({ session: 's1', allowance: { cost: 1 } })
  const own = reeve.as('session:s1')
  await expect(own.deleteSession({ session: 's1' })).rejects.toMatchObject({ code: 'denied' })
  await expect(own.openSession({ session: 's1', allowance: { cost: 9 } })).rejects.toMatchObject({
    code: 'denied',
  })
  expect((await own.openSession({ session: 's1' })).allowance).toEqual({ cost: 1 })
  await own.endSession({ session: 's1' })
  await expect(own.deleteSession({ session: 's1' })).rejects.toMatchObject({ code: 'denied' })
  await reeve.openSession({ session: 's2' })
  await expect(
    reeve.as('session:s2').openSession({ session: 's2', allowance: { cost: 9 } }),
  ).rejects.toMatchObject({ code: 'denied' })
  await reeve.as('session:s2').deleteSession({ session: 's2' })
  await reeve.deleteSession({ session: 's1' })
})

test('a deleted session cannot reopen itself without its former allowance', async () => {
  const reeve = await opened()
  await reeve.openSession({ session: 's1', allowance: { cost: 1 } })
  await reeve.deleteSession({ session: 's1' })
  const own = reeve.as('session:s1')
  await expect(own.openSession({ session: 's1' })).rejects.toMatchObject({
    code: 'denied',
    message: expect.stringContaining('had an allowance'),
  })
  await expect(own.spawn(OUTSIDE)).rejects.toMatchObject({ code: 'session_unknown' })
  expect((await reeve.sessions({})).sessions).toEqual([])
  await reeve.openSession({ session: 's1', allowance: { cost: 2 } })
  expect((await own.openSession({ session: 's1' })).allowance).toEqual({ cost: 2 })
  await reeve.deleteSession({ session: 's1' })
  // The host may lift the limit, and then the session is like any other.
  await reeve.openSession({ session: 's1' })
  await own.deleteSession({ session: 's1' })
  await own.openSession({ session: 's1' })
})

test('an open session gets an allowance once, and a second one is a conflict', async () => {
  const reeve = await opened()
  await reeve.openSession({ session: 's1' })
  expect((await reeve.openSession({ session: 's1', allowance: { cost: 1 } })).allowance).toEqual({ cost: 1 })
  expect((await reeve.budget({ session: 's1' })).left).toEqual({ cost: 1 })
  await reeve.openSession({ session: 's1', allowance: { cost: 1 } })
  const other = reeve.openSession({ session: 's1', allowance: { cost: 9 } })
  await expect(other).rejects.toMatchObject({ code: 'conflict', details: { allowance: { cost: 1 } } })
  const { record } = await reeve.spawn({ ...OUTSIDE, owner: { session: 's1' } })
  expect(record.limits.allowance).toEqual({ cost: 0.5 })
  expect((await reeve.budget({ session: 's1' })).left).toEqual({ cost: 0.5 })
})

test('invalid amounts are refused', async () => {
  const reeve = await opened()
  const bad = [{ toolCalls: -1 }, { toolCalls: 1.5 }, { cost: 0.1234567 }, { cost: Number.NaN }, { calls: 1 }]
  for (const allowance of bad)
    await expect(reeve.spawn({ ...OUTSIDE, allowance } as never)).rejects.toMatchObject({
      code: 'invalid_input',
    })
})

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
