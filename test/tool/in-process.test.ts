import { embed, type Json, type Reeve, type ToolHandler } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { tempStore } from '../temp-folder.ts'

async function run(reeve: Reeve, tool: string, input: Json = null) {
  const { record } = await reeve.spawn({ kind: 'tool', spec: { tool, input }, recovery: 'rerunnable' })
  return record.pid
}

async function outcome(reeve: Reeve, pid: string) {
  const ended = await reeve.wait({ pid })
  if (ended.type !== 'ended') throw new Error(`${pid} has not ended`)
  return ended.record.outcome
}

test('the return value of a tool is its result, and a thrown error is its failure', async () => {
  const reeve = await embed({
    store: tempStore(),
    tools: {
      double: ({ input }) => Number(input) * 2,
      nothing: () => undefined,
      fail: () => {
        throw new Error('no such file')
      },
      strange: () => ({ at: new URL('http://a') }) as never,
      dated: () => ({ at: new Date(0) }),
    },
  })
  const ends = async (tool: string, input?: Json) => outcome(reeve, await run(reeve, tool, input))
  expect(await ends('double', 21)).toMatchObject({ status: 'completed', result: 42 })
  expect(await ends('nothing')).toMatchObject({ status: 'completed', result: null })
  expect(await ends('fail')).toMatchObject({ status: 'failed', reason: 'no such file' })
  expect(await ends('strange')).toMatchObject({
    status: 'failed',
    reason: "The tool's result cannot be stored: the value at /at is an instance of the class URL.",
    result: { code: 'unstorable_value' },
  })
  expect(await ends('dated')).toMatchObject({
    status: 'completed',
    result: { at: { $reeve: 'Date', value: '1970-01-01T00:00:00.000Z' } },
  })
  await reeve.close()
})

test('a handler may destructure the methods of its context', async () => {
  const reeve = await embed({
    store: tempStore(),
    tools: {
      async work({ input, append, waitForSignal, sleep, untilResumed }) {
        await append('note', input)
        await sleep(1)
        await untilResumed()
        const answer = await waitForSignal('go', { timeoutMs: 0 })
        return answer.type
      },
    },
  })
  const request = {
    kind: 'tool',
    spec: { tool: 'work', input: 1 },
    eventTypes: { note: { schema: {} } },
  } as const
  const { record } = await reeve.spawn(request)
  expect(await outcome(reeve, record.pid)).toMatchObject({ status: 'completed', result: 'timed_out' })
  await reeve.close()
})

test('a tool that this kernel does not have waits for a kernel that has it', async () => {
  const store = tempStore()
  const one = await embed({ store })
  const pid = await run(one, 'later')
  expect(await one.wait({ pid, timeoutMs: 0 })).toMatchObject({
    type: 'timed_out',
    record: { status: 'queued' },
  })
  const two = await embed({ store, tools: { later: () => 'here' } })
  expect(await outcome(one, pid)).toMatchObject({ status: 'completed', result: 'here' })
  await two.close()
  await one.close()
})

test('all processes run, and never more at once than the concurrency allows', async () => {
  let running = 0
  let most = 0
  const reeve = await embed({
    store: tempStore(),
    concurrency: 3,
    tools: {
      async work() {
        running += 1
        most = Math.max(most, running)
        await new Promise<void>((resolve) => void setImmediate(resolve))
        running -= 1
        return null
      },
    },
  })
  const request = { kind: 'tool', spec: { tool: 'work' } } as const
  const { processes } = await reeve.spawnMany({ processes: Array.from({ length: 40 }, () => request) })
  const ended = await reeve.waitAll({ pids: processes.map(({ record }) => record.pid) })
  expect(ended.records.every((record) => record.outcome?.status === 'completed')).toBe(true)
  expect(most).toBe(3)
  await reeve.close()
})

/** Every tool but the last spawns the next one, and waits for it. */
const nested: ToolHandler = async ({ input, spawn, wait }) => {
  const levels = Number(input)
  if (levels === 0) return 0
  const child = await spawn({ kind: 'tool', spec: { tool: 'nested', input: levels - 1 } })
  const { outcome: ended } = await wait(child.pid)
  return Number(ended?.result) + 1
}

test('a tool that waits for its child gives its slot to it, through three levels', async () => {
  const reeve = await embed({ store: tempStore(), concurrency: 1, tools: { nested } })
  onTestFinished(() => reeve.close())
  expect(await outcome(reeve, await run(reeve, 'nested', 3))).toMatchObject({
    status: 'completed',
    result: 3,
  })
})

test('twenty children run one after the other in the slot of the tool that waits for them all', async () => {
  let running = 0
  let most = 0
  const reeve = await embed({
    store: tempStore(),
    concurrency: 1,
    tools: {
      async work({ input }) {
        running += 1
        most = Math.max(most, running)
        await new Promise<void>((resolve) => void setImmediate(resolve))
        running -= 1
        return input
      },
      async fanOut({ spawn, wait }) {
        const pids: string[] = []
        for (let input = 1; input <= 20; input++) {
          const child = await spawn({ kind: 'tool', spec: { tool: 'work', input } })
          pids.push(child.pid)
        }
        let sum = 0
        for (const pid of pids) sum += Number((await wait(pid)).outcome?.result)
        return sum
      },
    },
  })
  onTestFinished(() => reeve.close())
  expect(await outcome(reeve, await run(reeve, 'fanOut'))).toMatchObject({
    status: 'completed',
    result: 210,
  })
  expect(most).toBe(1)
})

test('a tool that waits for a signal or sleeps gives its slot to others', async () => {
  const reeve = await embed({
    store: tempStore(),
    concurrency: 1,
    tools: {
      async waiting({ waitForSignal }) {
        const answer = await waitForSignal('go')
        return answer.type === 'signal' ? answer.value : null
      },
      async asleep({ sleep }) {
        await sleep(3_600_000)
        return null
      },
      quick: () => 'done',
    },
  })
  onTestFinished(() => reeve.close())
  const asleep = await run(reeve, 'asleep')
  const waiting = await run(reeve, 'waiting')
  await reeve.waitFor({ pid: asleep, types: ['wait_entered'] })
  await reeve.waitFor({ pid: waiting, types: ['wait_entered'] })
  expect(await outcome(reeve, await run(reeve, 'quick'))).toMatchObject({ result: 'done' })
  await reeve.send({ pid: waiting, name: 'go', value: 7 })
  expect(await outcome(reeve, waiting)).toMatchObject({ status: 'completed', result: 7 })
})

test('a tool whose wait ends goes on beside a full kernel, which claims nothing until it is below its concurrency', async () => {
  const release = Promise.withResolvers<void>()
  const resumed = Promise.withResolvers<void>()
  const begun: Json[] = []
  const reeve = await embed({
    store: tempStore(),
    concurrency: 1,
    tools: {
      async waiting({ waitForSignal }) {
        await waitForSignal('go')
        resumed.resolve()
        await release.promise
        return null
      },
      async work({ input }) {
        begun.push(input as Json)
        if (input === 1) await resumed.promise
        return null
      },
    },
  })
  onTestFinished(() => reeve.close())
  const waiting = await run(reeve, 'waiting')
  await reeve.waitFor({ pid: waiting, types: ['wait_entered'] })
  const first = await run(reeve, 'work', 1)
  const second = await run(reeve, 'work', 2)
  await reeve.waitFor({ pid: first, types: ['started'] })
  await reeve.send({ pid: waiting, name: 'go', value: null })
  await outcome(reeve, first)
  const third = await run(reeve, 'work', 3)
  expect(begun).toEqual([1])
  release.resolve()
  await outcome(reeve, second)
  await outcome(reeve, third)
  expect(begun).toEqual([1, 2, 3])
})

test('after an orderly restart an attempt finds the children, waits and sleeps of the earlier one', async () => {
  const store = tempStore()
  const children: string[] = []
  const parent: ToolHandler = async (context) => {
    const child = await context.spawn({ kind: 'external', spec: { description: 'help' } })
    children.push(child.pid)
    await context.sleep(1)
    const first = await context.waitForSignal('go')
    const ended = await context.wait(child.pid)
    return [first.type === 'signal' ? first.value : null, ended.outcome?.result ?? null]
  }
  const one = await embed({ store, tools: { parent } })
  const pid = await run(one, 'parent')
  await one.waitFor({ pid, types: ['wait_left'] })
  await one.send({ pid, name: 'go', value: 'once' })
  const entered = async (reeve: Reeve, count: number) => {
    for (let after = 0, seen = 0; seen < count; seen++) {
      const heard = await reeve.waitFor({ pid, types: ['wait_entered'], after })
      if (heard.type !== 'heard' || heard.event === null) throw new Error('It ended')
      after = heard.event.seq
    }
  }
  await entered(one, 3)
  await one.close()
  const two = await embed({ store, tools: { parent } })
  await entered(two, 4)
  expect(new Set(children).size).toBe(1)
  expect(children.length).toBe(2)
  await two.end({ pid: children[0] ?? '', status: 'completed', result: 'helped', replayKey: 'e' })
  expect(await outcome(two, pid)).toMatchObject({ status: 'completed', result: ['once', 'helped'] })
  await two.close()
})

test('a wait is answered once from outside, by its key', async () => {
  const keys: string[] = []
  const asked = Promise.withResolvers<void>()
  const reeve = await embed({
    store: tempStore(),
    tools: {
      async approve(context) {
        keys.push(await context.keyFor('approval'))
        const waiting = context.waitForSignal('approval')
        asked.resolve()
        const answer = await waiting
        return answer.type === 'signal' ? answer.value : null
      },
    },
  })
  const pid = await run(reeve, 'approve')
  await asked.promise
  await reeve.waitFor({ pid, types: ['wait_entered'] })
  const [key = ''] = keys
  expect(await reeve.answer({ key: `${key.slice(0, -1)}x`, value: 'forged' })).toEqual({ type: 'unknown' })
  expect(await reeve.answer({ key, value: 'yes' })).toEqual({ type: 'accepted' })
  expect(await reeve.answer({ key, value: 'no' })).toEqual({ type: 'already_resolved' })
  expect(await outcome(reeve, pid)).toMatchObject({ result: 'yes' })
  await reeve.close()
})

test('a cancelled tool may clean up and end by itself', async () => {
  const begun = Promise.withResolvers<void>()
  const reeve = await embed({
    store: tempStore(),
    tools: {
      async work({ abortSignal: signal }) {
        begun.resolve()
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
        return 'cleaned up'
      },
    },
  })
  const pid = await run(reeve, 'work')
  await begun.promise
  const answer = await reeve.signal({ pid, signal: 'cancel', reason: 'not needed' })
  expect(answer.type).toBe('signalled')
  expect(await outcome(reeve, pid)).toMatchObject({ status: 'completed', result: 'cleaned up' })
  expect(await reeve.signal({ pid, signal: 'cancel' })).toMatchObject({ type: 'already_ended' })
  expect(await reeve.signal({ pid, signal: 'kill' })).toMatchObject({ type: 'already_ended' })
  await reeve.close()
})

test('a paused tool goes on when it is resumed', async () => {
  const begun = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  const reeve = await embed({
    store: tempStore(),
    tools: {
      async work(context) {
        begun.resolve()
        await go.promise
        await context.untilResumed()
        return 'went on'
      },
    },
  })
  const pid = await run(reeve, 'work')
  await begun.promise
  await reeve.signal({ pid, signal: 'pause' })
  go.resolve()
  expect(await reeve.wait({ pid, timeoutMs: 20 })).toMatchObject({
    type: 'timed_out',
    record: { status: 'paused' },
  })
  await reeve.signal({ pid, signal: 'resume' })
  expect(await outcome(reeve, pid)).toMatchObject({ result: 'went on' })
  await reeve.close()
})

test('waitAny waits for the first, waitAll for all, and an abort ends the call', async () => {
  const reeve = await embed({ store: tempStore() })
  const spawn = async () => (await reeve.spawn({ kind: 'external', spec: { description: 'x' } })).record.pid
  const [a, b] = [await spawn(), await spawn()]
  const first = reeve.waitAny({ pids: [a, b] })
  const all = reeve.waitAll({ pids: [a, b] })
  await reeve.end({ pid: b, status: 'completed', replayKey: 'e' })
  expect(await first).toMatchObject({ type: 'ended', record: { pid: b } })
  expect(await reeve.waitAll({ pids: [a, b], timeoutMs: 0 })).toMatchObject({
    type: 'timed_out',
    records: [{ pid: b }],
  })
  expect(await reeve.waitAny({ pids: [a], timeoutMs: 0 })).toEqual({ type: 'timed_out' })
  const controller = new AbortController()
  const called = reeve.wait({ pid: a }, { signal: controller.signal })
  controller.abort()
  expect(await called).toEqual({ type: 'interrupted' })
  await reeve.end({ pid: a, status: 'failed', replayKey: 'e' })
  expect((await all).records.map(({ pid }) => pid)).toEqual([a, b])
  await reeve.close()
})

test('a follower sees each event once, earlier events included', async () => {
  const reeve = await embed({ store: tempStore() })
  const outside = { kind: 'external', spec: { description: 'x' } } as const
  const before = await reeve.spawn(outside)
  const controller = new AbortController()
  const seen: string[] = []
  const following = (async () => {
    for await (const event of reeve.follow({}, { signal: controller.signal })) {
      seen.push(`${event.pid} ${event.seq}`)
      if (seen.length === 4) controller.abort()
    }
  })()
  const after = await reeve.spawn(outside)
  for (const { record } of [before, after]) await reeve.changeCwd({ pid: record.pid, cwd: '/' })
  await following
  expect(seen).toEqual([
    `${before.record.pid} 1`,
    `${after.record.pid} 1`,
    `${before.record.pid} 2`,
    `${after.record.pid} 2`,
  ])
  await reeve.close()
})

test('a handler may destructure its context', async () => {
  const reeve = await embed({
    store: tempStore(),
    tools: {
      async noter({ append, input }) {
        await append('noted', { input })
        return 'noted'
      },
    },
  })
  onTestFinished(() => reeve.close())
  const { record } = await reeve.spawn({
    kind: 'tool',
    spec: { tool: 'noter', input: 1 },
    eventTypes: { noted: { schema: { type: 'object' } } },
  })
  const ended = await reeve.wait({ pid: record.pid })
  expect(ended.type === 'ended' && ended.record.outcome?.result).toBe('noted')
})

test('a result that is too large to store is a failure with that reason', async () => {
  const reeve = await embed({ store: tempStore(), tools: { large: () => 'x'.repeat(2 * 1024 * 1024) } })
  onTestFinished(() => reeve.close())
  const ended = await outcome(reeve, await run(reeve, 'large'))
  expect(ended).toMatchObject({ status: 'failed', reason: expect.stringMatching(/The result has \d+ bytes/) })
})

test('a wait for a name that cannot be sent is refused', async () => {
  const reeve = await embed({
    store: tempStore(),
    tools: { deaf: async ({ waitForSignal }) => (await waitForSignal('two words')).type },
  })
  onTestFinished(() => reeve.close())
  const ended = await outcome(reeve, await run(reeve, 'deaf'))
  expect(ended).toMatchObject({ status: 'failed', reason: expect.stringMatching(/not a valid signal name/) })
})

test.each([-1, Number.NaN, Number.POSITIVE_INFINITY, 1e300])(
  'a handler that waits for %d ms is refused, and no wait is on record',
  async (ms) => {
    const codes: unknown[] = []
    const noteCode = (error: unknown) => void codes.push((error as { code?: string }).code)
    const work: ToolHandler = async (context) => {
      await context.waitForSignal('go', { timeoutMs: ms }).catch(noteCode)
      await context.sleep(ms).catch(noteCode)
      return 'done'
    }
    const reeve = await embed({ store: tempStore(), tools: { work } })
    onTestFinished(() => reeve.close())
    const { record } = await reeve.spawn({ kind: 'tool', spec: { tool: 'work' } })
    expect(await reeve.wait({ pid: record.pid })).toMatchObject({ record: { outcome: { result: 'done' } } })
    expect(codes).toEqual(['invalid_input', 'invalid_input'])
    const { events } = await reeve.events({ pid: record.pid })
    expect(events.map(({ type }) => type)).toEqual(['registered', 'started', 'ended'])
  },
)
