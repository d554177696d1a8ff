import { type Embedded, embed, RefusedError } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { refusal } from '../../src/core/refusal.ts'
import { Worker } from '../../src/worker/worker.ts'
import { tempStore } from '../temp-folder.ts'

/** A worker of a kernel that stands for a daemon, with some of that kernel's answers changed. */
async function working(changed: (reeve: Embedded) => Partial<Embedded>) {
  const reeve = await embed({ store: tempStore() })
  const worker = new Worker({ ...reeve, ...changed(reeve) })
  onTestFinished(async () => {
    await worker.close()
    await reeve.close()
  })
  const begin = async () => {
    const { record } = await reeve.spawn({ kind: 'workflow', spec: { workflow: 'work' } })
    return record.pid
  }
  const outcomeOf = async (pid: string) => {
    const ended = await reeve.wait({ pid })
    return ended.type === 'ended' ? ended.record.outcome : ended.type
  }
  return { reeve, worker, begin, outcomeOf }
}

const OPTIONS = { graceMs: 0 }

test('a function that could not be announced may be added again', async () => {
  let announced = 0
  const { worker, begin, outcomeOf } = await working((reeve) => ({
    announceWorker: async (input) => {
      announced += 1
      if (announced === 1) throw new RefusedError(refusal('denied', 'Not yet.', 'Ask again.'))
      return reeve.announceWorker(input)
    },
  }))
  await expect(worker.add('work', async () => 1, OPTIONS)).rejects.toMatchObject({ code: 'denied' })
  await worker.add('work', async () => 2, OPTIONS)
  expect(await outcomeOf(await begin())).toMatchObject({ status: 'completed', result: 2 })
})

test('functions that are added concurrently are announced one after the other', async () => {
  const slow = Promise.withResolvers<void>()
  let announced = 0
  const { reeve, worker } = await working((real) => ({
    announceWorker: async (input) => {
      announced += 1
      if (announced === 1) await slow.promise
      return real.announceWorker(input)
    },
  }))
  const one = worker.add('one', async () => 1, OPTIONS)
  const two = worker.add('two', async () => 2, OPTIONS)
  await new Promise((resolve) => void setImmediate(resolve))
  slow.resolve()
  await Promise.all([one, two])
  expect((await reeve.workflows()).workflows.map(({ name }) => name).sort()).toEqual(['one', 'two'])
})

test('a refused end becomes a failure with that message, and is not retried for ever', async () => {
  let run = 0
  const { worker, begin, outcomeOf } = await working((reeve) => ({
    doWork: async (input) => {
      const { act } = input
      if (act.type === 'end' && act.status === 'completed')
        throw new RefusedError(refusal('conflict', 'That result is not wanted.', 'Give another.'))
      return reeve.doWork(input)
    },
  }))
  await worker.add('work', async () => ++run, OPTIONS)
  const outcome = await outcomeOf(await begin())
  expect(outcome).toMatchObject({ status: 'failed', reason: 'That result is not wanted.' })
  expect(run).toBe(1)
})

test('a stop that arrives before the answer of the claim stops the function', async () => {
  const claimed = Promise.withResolvers<string>()
  const heard = Promise.withResolvers<void>()
  const { reeve, worker, begin, outcomeOf } = await working((real) => ({
    claimWork: async (input, options) => {
      const answer = await real.claimWork(input, options)
      const [first] = answer.work
      if (first !== undefined) {
        claimed.resolve(first.record.pid)
        await heard.promise
      }
      return answer
    },
    async *follow(input, options) {
      for await (const event of real.follow(input, options)) {
        yield event
        if (event.type === 'stop_requested') heard.resolve()
      }
    },
  }))
  await worker.add('work', (ctx) => ctx.waitForSignal('never'), OPTIONS)
  const pid = await begin()
  expect(await claimed.promise).toBe(pid)
  await reeve.signal({ pid, signal: 'cancel', reason: 'enough' })
  expect(await outcomeOf(pid)).toMatchObject({ status: 'cancelled', reason: 'enough' })
})

test('a stop that the event stream missed is found when the stream reconnects', async () => {
  const broken = Promise.withResolvers<void>()
  let streams = 0
  const { reeve, worker, begin, outcomeOf } = await working((real) => ({
    async *follow(input, options) {
      streams += 1
      if (streams > 1) yield* real.follow(input, options)
      await broken.promise
      throw new RefusedError(refusal('behind_pruned', 'Too late.', 'Begin again.'))
    },
  }))
  await worker.add('work', (ctx) => ctx.waitForSignal('never'), OPTIONS)
  const pid = await begin()
  await reeve.waitFor({ pid, types: ['wait_entered'] })
  await reeve.signal({ pid, signal: 'cancel', reason: 'enough' })
  broken.resolve()
  expect(await outcomeOf(pid)).toMatchObject({ status: 'cancelled', reason: 'enough' })
})

test('a worker gives up a function that ignores a stop, and asks again while that is too early', async () => {
  const asked: string[] = []
  const begun = Promise.withResolvers<void>()
  const { reeve, worker, begin, outcomeOf } = await working((real) => ({
    // As if the stop had been asked for with this grace.
    async *follow(input, options) {
      for await (const event of real.follow(input, options)) {
        if (event.type === 'stop_requested')
          yield { ...event, type: event.type, payload: { ...event.payload, graceMs: 1 } }
        else yield event
      }
    },
    doWork: async (input) => {
      if (input.act.type !== 'give_up_stop') return real.doWork(input)
      asked.push(input.pid)
      // The daemon's clock decides, and the stored stop has the default grace.
      if (asked.length === 1) return real.doWork(input)
      return real.doWork({ ...input, act: { type: 'end', status: 'cancelled' } })
    },
  }))
  await worker.add('work', () => new Promise(() => begun.resolve()), OPTIONS)
  const pid = await begin()
  await begun.promise
  await reeve.signal({ pid, signal: 'cancel', reason: 'enough' })
  expect(await outcomeOf(pid)).toMatchObject({ status: 'cancelled', reason: 'enough' })
  expect(asked).toEqual([pid, pid])
})

test('a function in a worker gets its stored environment, with secrets of the worker program alone', async () => {
  process.env['REEVE_TEST_OF_WORKER'] = 'of the worker'
  onTestFinished(() => void delete process.env['REEVE_TEST_OF_WORKER'])
  const { reeve, worker, outcomeOf } = await working(() => ({}))
  const seen: unknown[] = []
  await worker.add('work', async ({ env }) => void seen.push(env), OPTIONS)
  const run = async (variables: Record<string, string | { secret: string }>) => {
    const { envRef } = await reeve.putEnvironment({ variables, policy: {}, options: {} })
    const { record } = await reeve.spawn({ kind: 'workflow', spec: { workflow: 'work' }, envRef })
    return outcomeOf(record.pid)
  }
  const plain = { API_KEY: 'sk-not-masked-on-its-way', B: { secret: 'REEVE_TEST_OF_WORKER' } }
  expect(await run(plain)).toMatchObject({ status: 'completed' })
  expect(await run({ A: { secret: 'REEVE_TEST_NOT_SET' } })).toMatchObject({
    status: 'failed',
    reason: 'The secret REEVE_TEST_NOT_SET is not set.',
    result: { code: 'secret_unknown' },
  })
  expect(seen).toEqual([{ API_KEY: 'sk-not-masked-on-its-way', B: 'of the worker' }])
})

test('a worker whose processes all wait runs another one', async () => {
  const { reeve, worker, begin, outcomeOf } = await working(() => ({}))
  await worker.add('work', (ctx) => ctx.waitForSignal('go'), { ...OPTIONS, parkAfterMs: 3_600_000 })
  await worker.add('quick', async () => 'done', OPTIONS)
  const waiting: string[] = []
  for (let count = 0; count < 100; count++) waiting.push(await begin())
  for (const pid of waiting) await reeve.waitFor({ pid, types: ['wait_entered'] })
  const { record } = await reeve.spawn({ kind: 'workflow', spec: { workflow: 'quick' } })
  expect(await outcomeOf(record.pid)).toMatchObject({ status: 'completed', result: 'done' })
})
