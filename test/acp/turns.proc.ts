import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { TempReeve } from '../temp-reeve.ts'
import { Editor, scriptedProject } from './editor.ts'

test('a prompt streams text, thoughts, tool calls, the plan and the usage, and is answered when its turn ends', async () => {
  const temp = new TempReeve()
  const cwd = scriptedProject({
    answers: [
      {
        parts: [
          { thinking: 'A plan first.' },
          { text: 'I begin.' },
          {
            tool: 'plan',
            input: {
              changes: [
                {
                  type: 'replace',
                  items: [
                    { text: 'read', status: 'done' },
                    { text: 'write', status: 'in_progress' },
                    { text: 'rest', status: 'dropped' },
                  ],
                },
              ],
            },
          },
        ],
      },
      { parts: [{ tool: 'read_file', input: { path: 'a.txt' } }] },
      {
        parts: [{ tool: 'edit_file', input: { path: 'a.txt', edits: [{ oldText: 'one', newText: 'two' }] } }],
      },
      { parts: [{ tool: 'run_command', input: { command: 'cat a.txt; exit 3' } }] },
      { parts: [{ tool: 'read_file', input: { path: 'absent.txt' } }] },
      { parts: [{ text: 'Done.' }] },
    ],
  })
  writeFileSync(join(cwd, 'a.txt'), 'one\n')
  const editor = await Editor.start(temp, { cwd })
  const { sessionId, modes, configOptions } = await editor.newSession(cwd)
  expect(modes).toBeUndefined()
  expect(configOptions).toMatchObject([
    { id: 'model', category: 'model', currentValue: 'scripted/script.json' },
  ])
  expect(await editor.prompt(sessionId, 'go')).toEqual({ stopReason: 'end_turn' })

  expect(editor.text('agent_thought_chunk')).toBe('A plan first.')
  expect(editor.text()).toBe('I begin.Done.')
  expect(editor.text('user_message_chunk')).toBe('')
  expect(editor.of('plan')).toEqual([
    {
      sessionUpdate: 'plan',
      entries: [
        { content: 'read', priority: 'medium', status: 'completed' },
        { content: 'write', priority: 'medium', status: 'in_progress' },
      ],
    },
  ])
  const calls = editor.of('tool_call')
  expect(calls.map(({ title, kind, status }) => [title, kind, status])).toEqual([
    ['plan', 'think', 'in_progress'],
    ['read_file a.txt', 'read', 'in_progress'],
    ['edit_file a.txt', 'edit', 'in_progress'],
    ['cat a.txt; exit 3', 'execute', 'in_progress'],
    ['read_file absent.txt', 'read', 'in_progress'],
  ])
  const file = join(cwd, 'a.txt')
  expect(calls[1]).toMatchObject({ locations: [{ path: file }], rawInput: { path: 'a.txt' } })
  const diff = { type: 'diff', path: file, oldText: 'one', newText: 'two' }
  expect(calls[2]).toMatchObject({ content: [diff] })
  const results = editor.of('tool_call_update')
  expect(results.map(({ toolCallId }) => toolCallId)).toEqual(calls.map(({ toolCallId }) => toolCallId))
  expect(results.map(({ status }) => status)).toEqual([
    'completed',
    'completed',
    'completed',
    'completed',
    'failed',
  ])
  expect(results[2]).toMatchObject({ content: [diff] })
  expect(results[3]).toMatchObject({ rawOutput: { text: expect.stringMatching(/Exit code 3[\s\S]*two/) } })
  expect(editor.of('usage_update').at(-1)).toMatchObject({
    used: expect.any(Number),
    size: expect.any(Number),
    cost: { amount: 0, currency: 'USD' },
  })
  expect(readFileSync(file, 'utf8')).toBe('two\n')
  expect(await editor.quit()).toBe(0)
  expect(editor.stderr).toBe('')
})
