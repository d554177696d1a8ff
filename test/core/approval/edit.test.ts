import { expect, test } from 'vitest'
import { changedFields, refuseEdit } from '../../../src/core/approval/edit.ts'

const COMMAND = { pid: 'p_a', kind: 'command', spec: { argv: ['git', 'push'], inheritEnv: 'part' } } as const

test('an edit changes what runs, and not who runs it', () => {
  expect(refuseEdit(COMMAND, { argv: ['git', 'fetch'], inheritEnv: 'part' })).toBe(undefined)
  expect(refuseEdit(COMMAND, { argv: ['git', 'fetch'] })).toMatchObject({ code: 'invalid_input' })
  const call = { pid: 'p_a', kind: 'tool', spec: { tool: 'deploy', input: 1 } } as const
  expect(refuseEdit(call, { tool: 'deploy', input: 2 })).toBe(undefined)
  expect(refuseEdit(call, { tool: 'remove', input: 1 })).toMatchObject({ code: 'invalid_input' })
  const question = { pid: 'p_a', kind: 'tool', spec: { tool: 'human.ask', input: {} } } as const
  expect(refuseEdit(question, question.spec)).toMatchObject({ code: 'invalid_input' })
})

test('the members that an edit changed are listed, without the values of variables and input', () => {
  expect(
    changedFields(
      { argv: ['a'], cwd: 'x', env: { A: '1', B: '1' } },
      { argv: ['a'], env: { A: '2', B: '1', C: 'secret' }, pty: true, stdin: { text: 'secret' } },
    ),
  ).toEqual({
    cwd: { from: 'x', to: null },
    env: { variables: ['A', 'C'] },
    pty: { from: null, to: true },
    stdin: { changed: true },
  })
})
