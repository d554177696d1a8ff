import { describe, expect, test } from 'vitest'
import type { CallAnswer } from '../../src/core/model/answer.ts'
import { limitedModel } from '../../src/model/limited-model.ts'
import { Limiter } from '../../src/model/limiter.ts'
import type { CallWait, Model } from '../../src/model/model.ts'
import { simulatedClock } from '../../src/testing/simulated-clock.ts'
import { ask } from './open-model.ts'

const DONE: CallAnswer = { type: 'overflow', message: 'done' }
const LIMITED: CallAnswer = {
  type: 'failed',
  failure: { kind: 'rate_limited', message: 'm', remedy: 'r', status: 429, retryAfterMs: 5_000 },
}

/** A model whose calls end when the test says so. */
function heldModels() {
  const calls: ((answer: CallAnswer) => void)[] = []
  const held = (model: string): Model => ({
    provider: 'p',
    model,
    call: () => new Promise((resolve) => calls.push(resolve)),
  })
  return { held, calls }
}

/** Lets everything happen that is due. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

function setUp(maxConcurrent: number) {
  const clock = simulatedClock()
  const limiter = new Limiter(clock)
  const { held, calls } = heldModels()
  const waits: CallWait[] = []
  const close = () => limiter.close()
  const limited = (key: string, name: string) => limitedModel(held(name), { limiter, key, maxConcurrent })
  const call = (key = 'a', abortSignal?: AbortSignal, name = 'm') =>
    limited(key, name).call(ask('hi'), {
      onWait: (wait) => waits.push(wait),
      ...(abortSignal && { abortSignal }),
    })
  return { clock, calls, waits, call, close }
}

describe('concurrency', () => {
  test('calls of one key wait for a place, the longest waiting first; other keys do not', async () => {
    const { calls, waits, call } = setUp(1)
    const order: string[] = []
    const first = call().then(() => order.push('first'))
    const second = call().then(() => order.push('second'))
    const third = call().then(() => order.push('third'))
    const other = call('b').then(() => order.push('other'))
    await settled()
    expect(calls).toHaveLength(2)
    expect(waits).toEqual([
      { type: 'concurrency', ahead: 0 },
      { type: 'concurrency', ahead: 1 },
    ])
    calls[1]?.(DONE)
    await other
    calls[0]?.(DONE)
    await first
    await settled()
    calls[2]?.(DONE)
    await second
    await settled()
    calls[3]?.(DONE)
    await third
    expect(order).toEqual(['other', 'first', 'second', 'third'])
  })

  test('a call that is aborted while it waits leaves the line', async () => {
    const { calls, call } = setUp(1)
    const abort = new AbortController()
    const first = call()
    const second = call('a', abort.signal)
    const third = call()
    abort.abort()
    expect(await second).toEqual({ type: 'aborted', parts: [] })
    calls[0]?.(DONE)
    await first
    await settled()
    calls[1]?.(DONE)
    expect(await third).toEqual(DONE)
  })
})

describe('a pause that the provider asked for', () => {
  test('holds all calls of the key back, and is shown', async () => {
    const { clock, calls, waits, call } = setUp(4)
    const first = call()
    await settled()
    calls[0]?.(LIMITED)
    expect(await first).toEqual(LIMITED)
    const second = call()
    await settled()
    expect(calls).toHaveLength(1)
    expect(waits).toEqual([{ type: 'pause', until: clock.now() + 5_000 }])
    clock.advance(4_999)
    await settled()
    expect(calls).toHaveLength(1)
    clock.advance(1)
    await settled()
    calls[1]?.(DONE)
    expect(await second).toEqual(DONE)
  })

  test('does not concern another model of the key: a fallback goes on', async () => {
    const { calls, call } = setUp(4)
    const first = call()
    await settled()
    calls[0]?.(LIMITED)
    await first
    const waiting = call()
    const other = call('a', undefined, 'other')
    await settled()
    expect(calls).toHaveLength(2)
    calls[1]?.(DONE)
    expect(await Promise.race([waiting, other])).toEqual(DONE)
  })

  test('of an hour is not waited for: the call fails at once, with the rest of the pause', async () => {
    const { clock, calls, call } = setUp(4)
    const first = call()
    await settled()
    calls[0]?.({
      type: 'failed',
      failure: { kind: 'overloaded', message: 'm', remedy: 'r', retryAfterMs: 3_600_000 },
    })
    await first
    clock.advance(600_000)
    expect(await call()).toMatchObject({
      type: 'failed',
      failure: { kind: 'rate_limited', retryAfterMs: 3_000_000 },
    })
    expect(calls).toHaveLength(1)
  })

  test('ends even if the wall clock is set back meanwhile', async () => {
    const { clock, calls, call } = setUp(4)
    const first = call()
    await settled()
    calls[0]?.(LIMITED)
    await first
    const second = call()
    clock.jump(-86_400_000)
    clock.advance(5_000)
    await settled()
    calls[1]?.(DONE)
    expect(await second).toEqual(DONE)
  })
})

test('a closed limiter keeps no call waiting, and no timer', async () => {
  const { clock, calls, call, close } = setUp(4)
  const timers = new Set<object>()
  const after = clock.after
  clock.after = (ms, task) => {
    const timer = {}
    timers.add(timer)
    const cancel = after(ms, task)
    return () => {
      timers.delete(timer)
      cancel()
    }
  }
  const first = call()
  await settled()
  calls[0]?.(LIMITED)
  await first
  const waiting = call()
  expect(timers.size).toBe(1)
  close()
  expect(await waiting).toEqual({ type: 'aborted', parts: [] })
  expect(timers.size).toBe(0)
})
