import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { continueAnswer } from '../../src/core/model/continue-answer.ts'
import type { Model } from '../../src/model/model.ts'
import { Models } from '../../src/model/models.ts'
import { modelOptions } from '../../src/model/options.ts'
import { systemClock } from '../../src/store/system-clock.ts'
import { tempFolder } from '../temp-folder.ts'
import { chatDelta, sendChat } from './chat-events.ts'
import { ask, watch } from './open-model.ts'
import { type ProviderServer, providerServer } from './provider-server.ts'
import { beginEvents } from './send-events.ts'

const models = (url?: string) =>
  new Models(
    modelOptions.parse({
      providers: url === undefined ? {} : { local: { type: 'openai-compatible', baseURL: `${url}/v1` } },
    }),
    { clock: systemClock, keys: () => ({ secrets: {}, env: {} }) },
  )

async function opened(id: string, folder: string, server?: ProviderServer): Promise<Model> {
  const answer = await models(server?.url).open(id, folder)
  if (answer.type === 'refused') throw new Error(answer.message)
  return answer.model
}

const calls = [{ id: 'c1', name: 'add', text: '{"a":1,"b":2}' }]

describe('a recording', () => {
  test('is made by a real server, and replayed without it, fragments included', async () => {
    const folder = tempFolder()
    const server = await providerServer((response) => sendChat(response, { text: ['I a', 'dd.'], calls }))
    const live = watch()
    const recorder = await opened('record/runs/a.jsonl@local/m', folder, server)
    const recorded = await recorder.call(ask('1+2'), live)
    expect(recorded).toMatchObject({ type: 'answered', parts: [{ text: 'I add.' }, { callId: 'c1' }] })
    expect(await recorder.call(ask('1+2'))).toEqual(recorded)
    expect(server.requests).toHaveLength(1)

    const replayed = watch()
    const replayer = await opened('record/runs/a.jsonl', folder)
    expect(await replayer.call(ask('1+2', { cacheKey: 'other', answersBefore: 3 }), replayed)).toEqual(
      recorded,
    )
    expect(replayed.fragments).toEqual(live.fragments)
    expect({ provider: replayer.provider, model: replayer.model }).toEqual({ provider: 'local', model: 'm' })
    expect(statSync(join(folder, 'runs/a.jsonl')).mode & 0o777).toBe(0o600)
    expect(readFileSync(join(folder, 'runs/a.jsonl'), 'utf8')).not.toContain('key')
  })

  test('has no answer to another request', async () => {
    const folder = tempFolder()
    const server = await providerServer((response) => sendChat(response, { text: ['ok'] }))
    await (await opened('record/a.jsonl@local/m', folder, server)).call(ask('one'))
    const replayer = await opened('record/a.jsonl', folder)
    expect(await replayer.call(ask('two'))).toMatchObject({
      type: 'failed',
      failure: { kind: 'not_recorded' },
    })
    expect(await replayer.call(ask('one', { tools: [] }))).toMatchObject({
      failure: { kind: 'not_recorded' },
    })
  })

  test('keeps a cut with its continuation, and no failure', async () => {
    const folder = tempFolder()
    const server = await providerServer((response, _, index) => {
      if (index === 0) {
        response.writeHead(503)
        response.end()
      } else if (index === 1) {
        beginEvents(response)(chatDelta({ content: 'so ' }))
        response.end()
      } else sendChat(response, { text: ['far'] })
    })
    const recorder = await opened('record/a.jsonl@local/m', folder, server)
    expect((await recorder.call(ask('hi'))).type).toBe('failed')
    const cut = await recorder.call(ask('hi'))
    if (cut.type !== 'cut') throw new Error(cut.type)
    const continued = ask('', { prompt: [...ask('hi').prompt, ...continueAnswer(cut.parts, recorder)] })
    const last = await recorder.call(continued)
    const replayer = await opened('record/a.jsonl', folder)
    expect(await replayer.call(ask('hi'))).toEqual(cut)
    expect(await replayer.call(continued)).toEqual(last)
  })

  test('a request whose call was cut is asked again, and replayed in that order', async () => {
    const folder = tempFolder()
    const server = await providerServer((response, _, index) => {
      if (index > 0) return sendChat(response, { text: ['whole'] })
      beginEvents(response)(chatDelta({ reasoning_content: 'hm' }))
      response.end()
    })
    const recorder = await opened('record/a.jsonl@local/m', folder, server)
    expect(await recorder.call(ask('hi'))).toMatchObject({ type: 'cut', parts: [] })
    expect(await recorder.call(ask('hi'))).toMatchObject({ type: 'answered' })
    const replayer = await opened('record/a.jsonl', folder)
    expect((await replayer.call(ask('hi'))).type).toBe('cut')
    expect((await replayer.call(ask('hi'))).type).toBe('answered')
    expect((await replayer.call(ask('hi'))).type).toBe('answered')
  })

  test('survives a line that was torn by a crash', async () => {
    const folder = tempFolder()
    const server = await providerServer((response) => sendChat(response, { text: ['ok'] }))
    await (await opened('record/a.jsonl@local/m', folder, server)).call(ask('one'))
    appendFileSync(join(folder, 'a.jsonl'), '{"request":"abc","frag')
    await (await opened('record/a.jsonl@local/m', folder, server)).call(ask('two'))
    const replayer = await opened('record/a.jsonl', folder)
    expect((await replayer.call(ask('one'))).type).toBe('answered')
    expect((await replayer.call(ask('two'))).type).toBe('answered')
  })

  test('that does not exist, or is another file, is refused', async () => {
    const folder = tempFolder()
    expect(await models().open('record/a.jsonl', folder)).toMatchObject({
      type: 'refused',
      code: 'script_invalid',
    })
    writeFileSync(join(folder, 'b.txt'), 'hello\n')
    expect(await models().open('record/b.txt', folder)).toMatchObject({
      type: 'refused',
      code: 'script_invalid',
    })
  })
})
