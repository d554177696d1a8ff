import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { InputOf } from 'reeve'
import { expect, test } from 'vitest'
import { localAgents, type ServerAnswer, type ServerRequest } from './local-server.ts'
import { payloads } from './scripted-agent.ts'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
const picture: NonNullable<InputOf<'runAgent'>['parts']> = [
  { type: 'text', text: 'look' },
  { type: 'image', mediaType: 'image/png', data: PNG },
]
const HIDDEN = 'not shown to this model'

/** A server without a model for pictures. */
function blind(request: ServerRequest): ServerAnswer {
  return request.body.includes('image_url')
    ? { status: 400, message: 'image input is not supported by this model' }
    : { text: 'ok' }
}

test('a server that refuses a picture gets the prompt without it, and the session goes on, also after a compaction', async () => {
  const { asked, reeve, start, turn } = await localAgents(blind)
  const pid = await start()
  expect(await turn(pid, { parts: picture })).toMatchObject({ reason: 'finished', result: 'ok' })
  expect(asked.map(({ body }) => body.includes('image_url'))).toEqual([true, false])
  expect(asked[1]?.body).toContain(HIDDEN)
  expect(await payloads(reeve, pid, 'system_item')).toMatchObject([
    { kind: 'note', parts: [{ type: 'text' }, { type: 'hidden_media', model: 'local/m' }] },
  ])
  expect(await turn(pid, { text: 'and now?' })).toMatchObject({ reason: 'finished' })
  // The decision is in the log: the picture is not tried again, and the prompt before it is the same.
  expect(asked).toHaveLength(3)
  expect(messagesOf(asked[2])).toEqual([
    ...messagesOf(asked[1]),
    expect.anything(),
    expect.objectContaining({ content: 'and now?' }),
  ])
  await reeve.compactAgent({ pid })
  expect(await reeve.waitAgent({ pid, turn: 3 })).toMatchObject({ turn: { reason: 'finished' } })
  expect(await turn(pid, { text: 'still there?' })).toMatchObject({ reason: 'finished' })
  expect(asked.filter(({ body }) => body.includes('image_url'))).toHaveLength(1)
})

test('another model of the session still gets the picture that one has refused', async () => {
  const server = await localAgents((request) =>
    request.model === 'eye' ? { text: 'I see it.' } : blind(request),
  )
  const pid = await server.start()
  await server.turn(pid, { parts: picture })
  await server.reeve.configureAgent({ pid, model: 'local/eye' })
  expect(await server.turn(pid, { text: 'and you?' })).toMatchObject({ result: 'I see it.' })
  expect(server.asked.at(-1)?.body).toContain('image_url')
})

test('a refusal that is not about the picture ends the turn, and the picture is tried no more', async () => {
  const { asked, start, turn } = await localAgents(() => ({ status: 400, message: 'bad temperature' }))
  const pid = await start()
  expect(await turn(pid, { parts: picture })).toMatchObject({
    reason: 'provider_error',
    message: expect.stringContaining('bad temperature'),
  })
  expect(asked.map(({ body }) => body.includes('image_url'))).toEqual([true, false])
})

test('a session with a picture moves to a model that takes none, and new pictures are refused at admission', async () => {
  const { asked, reeve, start, turn } = await localAgents(() => ({ text: 'ok' }), {
    'local/text': { features: { images: false } },
  })
  const pid = await start()
  await turn(pid, { parts: picture })
  await reeve.configureAgent({ pid, model: 'local/text' })
  expect(await turn(pid, { text: 'go on' })).toMatchObject({ reason: 'finished' })
  expect(asked.at(-1)?.body).not.toContain('image_url')
  expect(asked.at(-1)?.body).toContain(HIDDEN)
  await expect(reeve.runAgent({ pid, parts: picture })).rejects.toMatchObject({ code: 'invalid_request' })
})

test('a picture that a tool returns is a text for a model that takes none', async () => {
  const call = { id: 'c1', name: 'read_file', text: '{"path":"logo.png"}' }
  const { asked, start, turn, workspace } = await localAgents(
    ({ results }) => (results === 0 ? { calls: [call] } : { text: 'seen' }),
    { 'local/m': { features: { images: false } } },
  )
  writeFileSync(join(workspace, 'logo.png'), Buffer.from(PNG, 'base64'))
  expect(await turn(await start(), { text: 'look at the logo' })).toMatchObject({ result: 'seen' })
  expect(asked[1]?.body).toContain(HIDDEN)
  expect(asked[1]?.body).not.toContain('image_url')
})

test('a fallback that cannot be opened is skipped', async () => {
  const { start, turn } = await localAgents(({ model }) =>
    model === 'm' ? { status: 401, message: 'no' } : { text: 'from the last' },
  )
  const pid = await start({}, { fallbacks: ['nowhere/m', 'local/last'] })
  expect(await turn(pid, { text: 'go' })).toMatchObject({ reason: 'finished', result: 'from the last' })
  const other = await start({}, { fallbacks: ['nowhere/m'] })
  expect(await turn(other, { text: 'go' })).toMatchObject({ reason: 'provider_error' })
})

function messagesOf(request: ServerRequest | undefined): readonly unknown[] {
  return (JSON.parse(request?.body ?? '{}') as { messages: readonly unknown[] }).messages
}
