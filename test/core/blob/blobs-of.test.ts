import { expect, test } from 'vitest'
import { blobChanges, blobsIn, blobsOf } from '../../../src/core/blob/blobs-of.ts'

const picture = { type: 'blob', hash: 'a'.repeat(64), bytes: 3, mediaType: 'image/png' } as const
const result = { ...picture, hash: 'b'.repeat(64), mediaType: 'text/plain' }

test('the references of typed parts are found, in their order', () => {
  const text = { type: 'text', text: 'hello' }
  expect(blobsIn([text, picture, text, result])).toEqual([picture.hash, result.hash])
  expect(blobsIn([text, { type: 'blob' }, null, [picture]])).toEqual([])
  expect(blobsIn(undefined)).toEqual([])
})

test('an entry of the session log of an agent refers to the blobs in its parts, each once', () => {
  const parts = [picture, result]
  expect(blobsOf({ type: 'assistant_item', payload: { turn: 1, call: 1, model: 'm', parts } })).toEqual([
    picture.hash,
    result.hash,
  ])
  const events = ['tool_called', 'tool_answered'].map((type) => ({ type, payload: { parts } }))
  expect(blobChanges(events)).toEqual({ added: [picture.hash, result.hash], removed: [] })
  expect(blobsOf({ type: 'turn_ended', payload: { parts } })).toEqual([])
})

test('a value of a user that looks like a reference is none', () => {
  for (const type of ['note', 'signal.done', 'step_ended', 'ended', 'message_received']) {
    expect(blobsOf({ type, payload: { parts: [picture] } })).toEqual([])
    expect(blobsOf({ type, payload: picture })).toEqual([])
  }
  expect(blobChanges([{ type: 'note', payload: { parts: [picture] } }])).toBeUndefined()
})
