import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as acp from '@agentclientprotocol/sdk'
import { connect, type Reeve } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { TempReeve } from '../temp-reeve.ts'
import { choosing, Editor, scriptedProject } from './editor.ts'

const APPROVER = { REEVE_APPROVER: 'true' }
const TOUCH = { tool: 'run_command', input: { command: 'touch made' } }

async function connected(temp: TempReeve): Promise<Reeve> {
  const reeve = await connect({ home: temp.folder })
  onTestFinished(() => reeve.close())
  return reeve
}

test('a person at the editor allows a call once, denies the next one, and the agent reads both answers', async () => {
  const temp = new TempReeve()
  const cwd = scriptedProject({
    answers: [
      { parts: [TOUCH] },
      { parts: [{ tool: 'run_command', input: { command: 'touch other' } }] },
      { parts: [{ text: 'Done.' }] },
    ],
  })
  const chosen = ['once', 'deny']
  const editor = await Editor.start(temp, {
    cwd,
    env: APPROVER,
    options: ['--preset', 'ask'],
    person: (request, signal) => choosing(chosen[editor.asked.length - 1] ?? '')(request, signal),
  })
  const { sessionId, modes } = await editor.newSession(cwd)
  expect(modes).toMatchObject({ currentModeId: 'ask' })
  expect(await editor.prompt(sessionId, 'go')).toEqual({ stopReason: 'end_turn' })
  expect(existsSync(join(cwd, 'made'))).toBe(true)
  expect(existsSync(join(cwd, 'other'))).toBe(false)
  expect(editor.asked).toHaveLength(2)
  const calls = editor.of('tool_call')
  expect(editor.asked.map(({ toolCall }) => toolCall.toolCallId)).toEqual(
    calls.map(({ toolCallId }) => toolCallId),
  )
  expect(JSON.stringify(editor.asked[0]?.toolCall.content)).toContain('touch made')
  const kinds = editor.asked[0]?.options.map(({ kind }) => kind)
  expect(kinds).toContain('allow_once')
  expect(kinds?.at(-1)).toBe('reject_once')
  const ends = editor
    .of('tool_call_update')
    .filter(({ status }) => status === 'completed' || status === 'failed')
  expect(ends.map(({ status }) => status)).toEqual(['completed', 'failed'])

  const reeve = await connected(temp)
  const { approvals } = await reeve.approvals({ state: 'answered' })
  expect(approvals.map(({ answer }) => answer?.type)).toEqual(['approved', 'denied'])
  expect(approvals.every(({ answer }) => answer?.by.startsWith('human:') === true)).toBe(true)

  const { session } = acp.methods.agent
  await editor.request(session.setMode, { sessionId, modeId: 'full' })
  expect(editor.of('current_mode_update')).toMatchObject([{ currentModeId: 'full' }])
  const { rules } = await reeve.policies()
  expect(
    rules.some(({ rule, subject }) => rule['preset'] === 'full' && subject.startsWith('session:acp:')),
  ).toBe(true)
  await expect(editor.request(session.setMode, { sessionId, modeId: 'boss' })).rejects.toMatchObject({
    code: -32602,
  })
})

test('a request that is answered elsewhere is cancelled at the editor, and so is one whose turn is cancelled', async () => {
  const temp = new TempReeve()
  const cwd = scriptedProject({
    answers: [{ parts: [TOUCH] }, { parts: [TOUCH] }, { parts: [{ text: 'Done.' }] }],
  })
  const shown = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let cancelled = 0
  const editor = await Editor.start(temp, {
    cwd,
    env: APPROVER,
    options: ['--preset', 'ask'],
    person: async (_, signal) => {
      shown[editor.asked.length - 1]?.resolve()
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      cancelled++
      return { outcome: { outcome: 'cancelled' } }
    },
  })
  const { sessionId } = await editor.newSession(cwd)
  const answered = editor.prompt(sessionId, 'go')
  await shown[0]?.promise
  const reeve = await connected(temp)
  const { approvals } = await reeve.approvals({})
  await reeve.approve({ id: approvals[0]?.id ?? '' })
  await shown[1]?.promise
  expect(cancelled).toBe(1)
  expect(existsSync(join(cwd, 'made'))).toBe(true)
  await editor.cancel(sessionId)
  expect(await answered).toEqual({ stopReason: 'cancelled' })
  expect((await reeve.approvals({})).approvals).toEqual([])
  expect((await reeve.approvals({ state: 'any' })).approvals.map(({ state }) => state)).toEqual([
    'answered',
    'withdrawn',
  ])
})

test('without approver the editor is not asked and changes no mode: it is told where the answer is given', async () => {
  const temp = new TempReeve()
  const cwd = scriptedProject({ answers: [{ parts: [TOUCH] }, { parts: [{ text: 'Done.' }] }] })
  const editor = await Editor.start(temp, {
    cwd,
    options: ['--preset', 'ask'],
    capabilities: { session: { notices: {} } },
  })
  const { sessionId, modes } = await editor.newSession(cwd)
  expect(modes).toBeUndefined()
  const mode = editor.request(acp.methods.agent.session.setMode, { sessionId, modeId: 'full' })
  await expect(mode).rejects.toMatchObject({ code: -32602 })
  const answered = editor.prompt(sessionId, 'go')
  await editor.until(({ sessionUpdate }) => sessionUpdate === 'notice')
  const reeve = await connected(temp)
  const { approvals } = await reeve.approvals({})
  const id = approvals[0]?.id ?? ''
  expect(editor.of('notice')[0]?.title).toContain(`reeve approve ${id}`)
  expect(existsSync(join(cwd, 'made'))).toBe(false)
  await reeve.approve({ id })
  expect(await answered).toEqual({ stopReason: 'end_turn' })
  expect(editor.asked).toEqual([])
  expect(existsSync(join(cwd, 'made'))).toBe(true)
})
