import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as acp from '@agentclientprotocol/sdk'
import { expect, test } from 'vitest'
import { TempReeve } from '../temp-reeve.ts'
import { Editor, scriptedProject } from './editor.ts'

const { session } = acp.methods.agent
const WORDS = Array.from({ length: 40 }, (_, index) => `word${index}`).join(' ')

test('a daemon that is killed in the middle of an answer costs no text and doubles none, and the prompt is answered', async () => {
  const temp = new TempReeve()
  const cwd = scriptedProject({
    answers: [
      { parts: [{ text: 'First. ' }, { tool: 'run_command', input: { command: 'echo ran >> ran.txt' } }] },
      { parts: [{ text: WORDS }], fragmentMs: 20 },
    ],
  })
  const editor = await Editor.start(temp, { cwd })
  await expect(editor.newSession(join(cwd, 'absent'))).rejects.toMatchObject({ code: -32602 })
  const { sessionId } = await editor.newSession(cwd)
  const answered = editor.prompt(sessionId, 'go')
  await editor.until(() => editor.text().includes('word5 '))
  await temp.killDaemon()
  expect(await answered).toEqual({ stopReason: 'end_turn' })
  expect(editor.text()).toBe(`First. ${WORDS}`)
  expect(editor.of('tool_call')).toHaveLength(1)
  expect(editor.of('tool_call_update')).toHaveLength(1)
})

test('a cancel ends the turn, and the session takes the next prompt', async () => {
  const temp = new TempReeve()
  const cwd = scriptedProject({
    replies: [{ when: { input: 'again' }, answer: { parts: [{ text: 'Again.' }] } }],
    answers: [{ parts: [{ tool: 'run_command', input: { command: 'sleep 600' } }] }],
  })
  const editor = await Editor.start(temp, { cwd })
  const { sessionId } = await editor.newSession(cwd)
  const answered = editor.prompt(sessionId, 'go')
  await editor.until(({ sessionUpdate }) => sessionUpdate === 'tool_call')
  const second = editor.prompt(sessionId, 'too early')
  await expect(second).rejects.toMatchObject({ code: -32600 })
  await editor.cancel(sessionId)
  expect(await answered).toEqual({ stopReason: 'cancelled' })
  expect(editor.of('tool_call_update')).toMatchObject([{ status: 'failed' }])
  expect(await editor.prompt(sessionId, 'again')).toEqual({ stopReason: 'end_turn' })
  expect(editor.text()).toBe('Again.')
})

test('a session is listed, loaded with its history and resumed without it by the next editor', async () => {
  const temp = new TempReeve()
  const cwd = scriptedProject({
    answers: [
      { parts: [{ text: 'It says hello.' }, { tool: 'read_file', input: { path: 'a.txt' } }] },
      { parts: [{ text: ' Bye.' }] },
    ],
    atEnd: 'repeat',
  })
  const file = join(cwd, 'a.txt')
  writeFileSync(file, 'hello\nworld\n')
  const first = await Editor.start(temp, { cwd })
  const { sessionId } = await first.newSession(cwd)
  const unused = await first.newSession(cwd)
  const link: acp.ContentBlock = {
    type: 'resource_link',
    name: 'a.txt',
    uri: `${pathToFileURL(file).href}#L1:1`,
  }
  const embedded: acp.ContentBlock = {
    type: 'resource',
    resource: { uri: 'zed:///thread', text: 'an old thread' },
  }
  await first.prompt(sessionId, 'What does it say?\nSoon, please.', link, embedded)
  expect(await first.quit()).toBe(0)
  await temp.killDaemon()

  const second = await Editor.start(temp, { cwd })
  await expect(second.prompt(sessionId, 'go')).rejects.toMatchObject({ code: -32002 })
  const { sessions } = await second.request(session.list, { cwd })
  expect(sessions).toMatchObject([{ sessionId, cwd, title: 'What does it say?' }])
  await expect(
    second.request(session.load, { sessionId: unused.sessionId, cwd, mcpServers: [] }),
  ).rejects.toMatchObject({
    code: -32002,
  })
  await second.request(session.load, { sessionId, cwd, mcpServers: [] })
  expect(second.text('user_message_chunk')).toContain('What does it say?\nSoon, please.')
  expect(second.of('user_message_chunk')[1]).toMatchObject({
    content: { type: 'resource_link', name: 'a.txt' },
  })
  expect(second.text()).toBe('It says hello. Bye.')
  expect(second.of('tool_call_update')).toMatchObject([{ status: 'completed' }])
  expect(await second.prompt(sessionId, 'and now?')).toEqual({ stopReason: 'end_turn' })
  expect(second.text()).toBe('It says hello. Bye. Bye.')
  await second.request(session.close, { sessionId })

  const third = await Editor.start(temp, { cwd })
  await third.request(session.resume, { sessionId, cwd, mcpServers: [] })
  expect(third.text()).toBe('')
  expect(await third.prompt(sessionId, 'and now?')).toEqual({ stopReason: 'end_turn' })
  await third.request(session.delete, { sessionId })
  expect((await third.request(session.list, { cwd })).sessions).toEqual([])
})

test('a model is chosen by a session option, and a turn that fails is an error with its reason', async () => {
  const temp = new TempReeve()
  const cwd = scriptedProject({ answers: [] })
  writeFileSync(join(cwd, 'other.json'), JSON.stringify({ answers: [{ parts: [{ text: 'Other.' }] }] }))
  const editor = await Editor.start(temp, { cwd, options: ['--model', 'scripted/other.json'] })
  const { sessionId } = await editor.newSession(cwd)
  await expect(editor.prompt(sessionId, 'go')).rejects.toMatchObject({
    code: -32603,
    data: { reason: 'provider_error' },
  })
  const chosen: acp.SetSessionConfigOptionRequest = {
    sessionId,
    configId: 'model',
    value: 'scripted/other.json',
  }
  const { configOptions } = await editor.request(session.setConfigOption, chosen)
  expect(configOptions).toMatchObject([{ id: 'model', currentValue: 'scripted/other.json' }])
  expect(await editor.prompt(sessionId, 'go')).toEqual({ stopReason: 'end_turn' })
  expect(editor.text()).toBe('Other.')
  const wrong = editor.request(session.setConfigOption, { ...chosen, value: 'nonsense' })
  await expect(wrong).rejects.toMatchObject({ code: -32602 })
})

test('bad input is refused, and the connection goes on', async () => {
  const temp = new TempReeve()
  const cwd = scriptedProject({ answers: [{ parts: [{ text: 'Fine.' }] }] })
  const editor = await Editor.start(temp, { cwd })
  await expect(editor.newSession('relative')).rejects.toMatchObject({ code: -32602 })
  const sse: acp.McpServer = { type: 'sse', name: 's', url: 'http://localhost/', headers: [] }
  await expect(editor.newSession(cwd, [sse])).rejects.toMatchObject({ code: -32602 })
  await expect(editor.prompt('p_000000000000', 'go')).rejects.toMatchObject({ code: -32002 })
  for (const sessionId of ['p_000000000000', 'nonsense', '', '..'])
    await expect(editor.request(session.load, { sessionId, cwd, mcpServers: [] })).rejects.toMatchObject({
      code: -32002,
    })
  await expect(editor.request('session/dance', {})).rejects.toMatchObject({ code: -32601 })
  const { sessionId } = await editor.newSession(cwd)
  await expect(editor.prompt(sessionId)).rejects.toMatchObject({ code: -32602 })
  await expect(
    editor.prompt(sessionId, { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }),
  ).rejects.toMatchObject({
    code: -32602,
  })
  editor.child.stdin?.write('{"jsonrpc": nonsense\n[]\n')
  expect(await editor.prompt(sessionId, 'go')).toEqual({ stopReason: 'end_turn' })
  expect(editor.text()).toBe('Fine.')
})

test('reeve acp refuses to start with a preset that does not exist', async () => {
  const temp = new TempReeve()
  const cwd = scriptedProject({ answers: [] })
  const editor = new Editor(temp, { cwd, options: ['--preset', 'boss'] })
  const [code] = await once(editor.child, 'exit')
  expect(code).not.toBe(0)
  expect(editor.stderr).toContain('boss')
})
