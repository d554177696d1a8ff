import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import type { CallAnswer } from '../../src/core/model/answer.ts'
import { continueAnswer } from '../../src/core/model/continue-answer.ts'
import { type CallProgress, NO_PROGRESS, nextStep } from '../../src/core/model/next-step.ts'
import type { PromptItem } from '../../src/core/model/prompt.ts'
import type { Model } from '../../src/model/model.ts'
import { chatDelta } from './chat-events.ts'
import { ask, openModel } from './open-model.ts'
import { beginEvents } from './send-events.ts'
import { strictProvider } from './strict-provider.ts'

/** What an executor does for one answer, without its waits: progress is stored and read between the calls. */
async function drive(models: readonly Model[], prompt: PromptItem[]) {
  const steps: string[] = []
  let progress: CallProgress = NO_PROGRESS
  for (;;) {
    const model = models[progress.model]
    if (model === undefined) throw new Error('There is no such model.')
    const answer: CallAnswer = await model.call(ask('', { prompt }))
    const step = nextStep({ answer, progress, models: models.length, random: 0.5 })
    steps.push('delayMs' in step ? `${step.type} after ${step.delayMs} ms` : step.type)
    if (!('progress' in step)) return { steps, answer, by: model.model }
    if (step.type === 'continue' && answer.type === 'cut') prompt.push(...continueAnswer(answer.parts, model))
    progress = JSON.parse(JSON.stringify(step.progress))
  }
}

const status =
  (code: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse) => {
    response.writeHead(code, { 'content-type': 'application/json', ...headers })
    response.end('{"error":{"message":"trouble"}}')
  }

/** A stream that breaks after this text. */
const cutAfter = (text: string) => (response: ServerResponse) => {
  beginEvents(response)(chatDelta({ content: text }))
  response.end()
}

test('an answer arrives through a rate limit, a broken connection and two cut streams; no request changes its beginning', async () => {
  const trouble = [
    status(500),
    (response: ServerResponse) => response.destroy(),
    cutAfter('The answer '),
    cutAfter('is '),
  ]
  const provider = await strictProvider((_, index) => trouble[index] ?? { text: '42.' })
  const prompt: PromptItem[] = [...ask('what?').prompt]
  const { steps, answer } = await drive([await openModel('openai-compatible', provider.url)], prompt)
  expect(steps).toEqual([
    'retry after 250 ms',
    'retry after 500 ms',
    'continue after 250 ms',
    'continue after 500 ms',
    'use',
  ])
  expect(answer).toMatchObject({ type: 'answered', parts: [{ text: '42.' }] })
  const said = prompt.flatMap((item) => (item.type === 'assistant' ? item.parts : []))
  expect(said).toMatchObject([{ text: 'The answer ' }, { text: 'is ' }])
  expect(provider.complaints).toEqual([])
  expect(provider.requests).toHaveLength(5)
})

test('a provider that rejects the key, or asks for an hour, is followed by the next one of the list', async () => {
  const provider = await strictProvider((_, index) => {
    if (index === 0) return status(401)
    return index === 1 ? status(429, { 'retry-after': '3600' }) : { text: 'here' }
  })
  const models = [
    await openModel('openai-compatible', provider.url, { model: 'one' }),
    await openModel('openai-compatible', provider.url, { model: 'two' }),
    await openModel('openai-compatible', provider.url, { model: 'three' }),
  ]
  const { steps, answer, by } = await drive(models, [...ask('what?').prompt])
  expect(steps).toEqual(['fall_back', 'fall_back', 'use'])
  expect(answer).toMatchObject({ type: 'answered', parts: [{ text: 'here' }] })
  expect(by).toBe('three')
})

test('a provider that is down ends with its last failure, after four attempts', async () => {
  const provider = await strictProvider(() => status(503))
  const { steps, answer } = await drive(
    [await openModel('openai-compatible', provider.url)],
    [...ask('what?').prompt],
  )
  expect(steps).toHaveLength(4)
  expect(answer).toMatchObject({ type: 'failed', failure: { kind: 'overloaded', status: 503 } })
  expect(provider.requests).toHaveLength(4)
})
