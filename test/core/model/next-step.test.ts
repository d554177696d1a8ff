import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CallAnswer, CallFailure, FailureKind, Usage } from '../../../src/core/model/answer.ts'
import { type CallProgress, isRetryable, NO_PROGRESS, nextStep } from '../../../src/core/model/next-step.ts'

const usage: Usage = {
  inputTokens: 1,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 1,
  reasoningTokens: 0,
  isEstimate: true,
}

const failure = (kind: FailureKind, more: Partial<CallFailure> = {}): CallFailure => ({
  kind,
  message: 'm',
  remedy: 'r',
  ...more,
})
const failed = (kind: FailureKind, more?: Partial<CallFailure>): CallAnswer => ({
  type: 'failed',
  failure: failure(kind, more),
})
const cut: CallAnswer = { type: 'cut', parts: [], usage, failure: failure('network') }

/** Asks until there is nothing more to try, and returns each step's type and delay. */
function play(answer: CallAnswer, { models = 1, random = 1 } = {}): string[] {
  const steps: string[] = []
  let progress: CallProgress = NO_PROGRESS
  while (steps.length < 50) {
    const step = nextStep({ answer, progress, models, random })
    steps.push('delayMs' in step ? `${step.type} ${step.delayMs}` : step.type)
    if (!('progress' in step)) return steps
    progress = step.progress
  }
  return steps
}

describe('retries', () => {
  test('a failure that may pass is tried four times, with delays that double', () => {
    expect(play(failed('server_error', { status: 500 }))).toEqual([
      'retry 500',
      'retry 1000',
      'retry 2000',
      'give_up',
    ])
  })

  test('full jitter: a delay is anything between nothing and its limit', () => {
    expect(play(failed('network'), { random: 0 })).toEqual(['retry 0', 'retry 0', 'retry 0', 'give_up'])
    expect(play(failed('network'), { random: 0.5 })).toEqual([
      'retry 250',
      'retry 500',
      'retry 1000',
      'give_up',
    ])
  })

  test('Retry-After is honoured, if it is longer than the delay', () => {
    expect(play(failed('rate_limited', { status: 429, retryAfterMs: 7_000 }))).toEqual([
      'retry 7000',
      'retry 7000',
      'retry 7000',
      'give_up',
    ])
    expect(play(failed('rate_limited', { status: 429, retryAfterMs: 1 }))[0]).toBe('retry 500')
  })

  test('all waits together take at most forty seconds', () => {
    expect(play(failed('rate_limited', { retryAfterMs: 15_000 }))).toEqual([
      'retry 15000',
      'retry 15000',
      'give_up',
    ])
    expect(play(failed('rate_limited', { retryAfterMs: 3_600_000 }))).toEqual(['give_up'])
  })

  test.each([408, 425, 429, 500, 502, 503, 504, 529])('status %d is retried', (status) => {
    expect(isRetryable(failure('invalid_request', { status }))).toBe(true)
  })

  test.each([400, 401, 402, 403, 404, 409, 413, 422, 501])('status %d is not', (status) => {
    expect(isRetryable(failure('invalid_request', { status }))).toBe(false)
  })

  test.each([
    'key_missing',
    'key_rejected',
    'model_unknown',
    'not_allowed',
    'invalid_request',
    'answer_too_large',
    'redirected',
    'script',
    'internal',
  ] as const)('%s is not retried', (kind) => {
    expect(play(failed(kind))).toEqual(['give_up'])
  })

  test('a 429 without credit is not retried: waiting does not pay', () => {
    expect(play(failed('quota_exhausted', { status: 429 }))).toEqual(['give_up'])
  })
})

describe('broken streams', () => {
  test('are continued three times', () => {
    expect(play(cut)).toEqual(['continue 500', 'continue 1000', 'continue 2000', 'give_up'])
  })

  test('do not use up the attempts of calls without output', () => {
    const progress = { ...NO_PROGRESS, continuations: 3 }
    expect(nextStep({ answer: failed('network'), progress, models: 1, random: 0 })).toMatchObject({
      type: 'retry',
    })
  })
})

describe('the list of models', () => {
  test('each model has its own attempts', () => {
    expect(play(failed('overloaded', { status: 529 }), { models: 2, random: 0 })).toEqual([
      'retry 0',
      'retry 0',
      'retry 0',
      'fall_back',
      'retry 0',
      'retry 0',
      'retry 0',
      'give_up',
    ])
  })

  test('a rejected key goes to the next model at once', () => {
    expect(play(failed('key_rejected', { status: 401 }), { models: 2 })).toEqual(['fall_back', 'give_up'])
  })

  test('a refusal, an overflow and an abort do not', () => {
    expect(play({ type: 'refused', parts: [], usage, message: 'no' }, { models: 2 })).toEqual(['give_up'])
    expect(play({ type: 'overflow', message: 'too long' }, { models: 2 })).toEqual(['compact'])
    expect(play({ type: 'aborted', parts: [] }, { models: 2 })).toEqual(['give_up'])
  })
})

test('an answer is used', () => {
  expect(play({ type: 'answered', parts: [], finish: 'stop', usage, warnings: [] })).toEqual(['use'])
})

test('after any sequence of answers, each model gets at most four attempts and three continuations, and forty seconds of waits', () => {
  const kinds = ['network', 'rate_limited', 'key_rejected', 'invalid_answer'] as const
  const anyFailure = fc.record({
    kind: fc.constantFrom(...kinds),
    retryAfterMs: fc.integer({ min: 0, max: 60_000 }),
  })
  const anyAnswer = fc
    .tuple(fc.boolean(), anyFailure)
    .map(
      ([isCut, more]): CallAnswer =>
        isCut ? { ...cut, failure: failure(more.kind, more) } : failed(more.kind, more),
    )
  fc.assert(
    fc.property(
      fc.infiniteStream(anyAnswer),
      fc.integer({ min: 1, max: 3 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (answers, models, random) => {
        let progress: CallProgress = NO_PROGRESS
        let calls = 0
        for (const answer of answers) {
          calls += 1
          const step = nextStep({ answer, progress, models, random })
          if (!('progress' in step)) break
          progress = step.progress
          expect(progress.attempts).toBeLessThan(4)
          expect(progress.continuations).toBeLessThanOrEqual(3)
          expect(progress.waitedMs).toBeLessThanOrEqual(40_000)
        }
        expect(calls).toBeLessThanOrEqual(7 * models)
      },
    ),
  )
})
