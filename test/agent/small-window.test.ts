import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { localAgents, type ServerAnswer, type ServerRequest, tooLong } from './local-server.ts'
import { payloads } from './scripted-agent.ts'

/** Reads a file in each turn, as long as the prompt fits into the window. */
function reading(window: number): (request: ServerRequest, index: number) => ServerAnswer {
  return (request, index) => {
    const refused = tooLong(request, window)
    if (refused !== null) return refused
    if (request.kind === 'summary') return { text: 'Files were read.' }
    const messages = (JSON.parse(request.body) as { messages: readonly { role: string; content: unknown }[] })
      .messages
    const last = messages.at(-1)
    const isAsked = last?.role === 'user' && String(last.content).startsWith('read')
    const path = `f${index % 3}.txt`
    return isAsked
      ? { calls: [{ id: `c${index}`, name: 'read_file', text: JSON.stringify({ path }) }] }
      : { text: 'ok' }
  }
}

test('a session goes on in a window of 16,384 tokens that is not configured', async () => {
  const { reeve, start, turn, workspace } = await localAgents(reading(16_384))
  for (const name of ['f0', 'f1', 'f2'])
    writeFileSync(join(workspace, `${name}.txt`), `${'a line of this file\n'.repeat(500)}`)
  const pid = await start()
  for (let count = 0; count < 8; count++)
    expect(await turn(pid, { text: 'read the next one' })).toMatchObject({ reason: 'finished' })
  expect(await payloads(reeve, pid, 'segment_begun')).toContainEqual(
    expect.objectContaining({ why: 'compaction' }),
  )
})

test('a session of 38,000 tokens is shortened for a window of 32,768 that is not configured, also on request', async () => {
  let window = 100_000
  const { reeve, start, turn } = await localAgents((request, index) => reading(window)(request, index))
  const pid = await start()
  for (let count = 0; count < 8; count++) await turn(pid, { text: `note ${count} ${'word '.repeat(3_800)}` })
  window = 32_768
  await reeve.compactAgent({ pid })
  expect(await reeve.waitAgent({ pid, turn: 9 })).toMatchObject({ turn: { reason: 'finished' } })
  expect(await turn(pid, { text: 'go on' })).toMatchObject({ reason: 'finished', result: 'ok' })
})

test('a server that takes no summary at all is asked a bounded number of times, and the message names the setting', async () => {
  const { asked, reeve, start, turn } = await localAgents((request) =>
    request.kind === 'summary' ? { status: 400, message: 'exceeds the context window' } : { text: 'ok' },
  )
  const pid = await start()
  await turn(pid, { text: 'word '.repeat(3_000) })
  await reeve.compactAgent({ pid })
  expect(await reeve.waitAgent({ pid, turn: 2 })).toMatchObject({
    turn: { reason: 'provider_error', message: expect.stringMatching(/models, "local\/m", contextWindow/) },
  })
  expect(asked.filter(({ kind }) => kind === 'summary').length).toBeLessThan(8)
  expect(await turn(pid, { text: 'go on' })).toMatchObject({ reason: 'finished' })
})

test('a summary is asked for again after status 503, and by a fallback if the first model stays away', async () => {
  let failures = 1
  const { reeve, start, turn, asked } = await localAgents(({ kind, model }) => {
    if (kind !== 'summary') return { text: 'ok' }
    failures -= 1
    if (failures >= 0) return { status: 503, message: 'overloaded' }
    return model === 'm' ? { status: 401, message: 'no key' } : { text: 'A greeting.' }
  })
  const pid = await start({}, { fallbacks: ['local/other'] })
  await turn(pid, { text: 'hello' })
  await reeve.compactAgent({ pid })
  expect(await reeve.waitAgent({ pid, turn: 2 })).toMatchObject({ turn: { reason: 'finished' } })
  expect(asked.filter(({ kind }) => kind === 'summary').map(({ model }) => model)).toEqual([
    'm',
    'm',
    'other',
  ])
  expect(await payloads(reeve, pid, 'model_call_retried')).toHaveLength(2)
})

test('a session that nears a known window is shortened before the call, so that no request is refused', async () => {
  const refused: number[] = []
  const { reeve, start, turn, asked } = await localAgents(
    (request) => {
      const over = tooLong(request, 40_000)
      if (over !== null) refused.push(request.tokens)
      return over ?? { text: request.kind === 'summary' ? 'Notes were taken.' : 'ok' }
    },
    { 'local/m': { contextWindow: 40_000 } },
  )
  const pid = await start()
  for (let count = 0; count < 12; count++)
    expect(await turn(pid, { text: `note ${count} ${'word '.repeat(3_800)}` })).toMatchObject({
      result: 'ok',
    })
  expect(asked.filter(({ kind }) => kind === 'summary').length).toBeGreaterThan(0)
  expect(refused).toEqual([])
  expect(await payloads(reeve, pid, 'agent_alerted')).toEqual([])
})

test('a session that no summary makes short enough is shortened once, with an alert, and goes on', async () => {
  const { reeve, start, turn, asked } = await localAgents(
    ({ kind }) => ({ text: kind === 'summary' ? 'Notes were taken.' : 'ok' }),
    // Less than the system prompt and the tools take.
    { 'local/m': { contextWindow: 2_000 } },
  )
  const pid = await start()
  for (let count = 0; count < 4; count++)
    expect(await turn(pid, { text: `note ${count}` })).toMatchObject({ reason: 'finished', result: 'ok' })
  expect(asked.filter(({ kind }) => kind === 'summary')).toHaveLength(1)
  expect(await payloads(reeve, pid, 'agent_alerted')).toMatchObject([{ alert: 'compaction_without_effect' }])
})

test('a summary that fails before a call changes nothing, and the call is made', async () => {
  const { reeve, start, turn, asked } = await localAgents(
    ({ kind }) => ({ text: kind === 'summary' ? ' ' : 'ok' }),
    { 'local/m': { contextWindow: 2_000 } },
  )
  const pid = await start()
  for (let count = 0; count < 3; count++)
    expect(await turn(pid, { text: `note ${count}` })).toMatchObject({ reason: 'finished', result: 'ok' })
  expect(asked.filter(({ kind }) => kind === 'summary')).toHaveLength(1)
  expect(await payloads(reeve, pid, 'segment_begun')).toMatchObject([{ why: 'context' }])
})
