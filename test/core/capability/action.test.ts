import { expect, test } from 'vitest'
import { type Action, actionText } from '../../../src/core/capability/action.ts'

const PUSH: Action = {
  subject: 'session:s',
  parent: null,
  host: 'laptop',
  act: {
    type: 'command',
    run: 'git push',
    stdin: 'null',
    programs: [{ name: 'git', real: '/usr/bin/git', identity: '1' }],
  },
  cwd: '/w',
  environmentHash: 'e1',
  sandbox: null,
}

test('the text of an action is canonical', () => {
  expect(actionText(PUSH)).toBe(
    '{"act":{"programs":[{"identity":"1","name":"git","real":"/usr/bin/git"}],"run":"git push","stdin":"null",' +
      '"type":"command"},"cwd":"/w","environmentHash":"e1","host":"laptop","parent":null,"sandbox":null,' +
      '"subject":"session:s","version":1}',
  )
  const { subject, ...others } = PUSH
  expect(actionText({ ...others, subject })).toBe(actionText(PUSH))
})

test('another field is another action', () => {
  const git = (identity: string) => ({ name: 'git', real: '/usr/bin/git', identity })
  const command = { type: 'command', run: 'git push', stdin: 'null', programs: [git('1')] } as const
  const others: readonly Partial<Action>[] = [
    { subject: 'session:t' },
    { parent: 'p_a' },
    { host: 'server' },
    { cwd: '/x' },
    { environmentHash: 'e2' },
    { sandbox: { network: false } },
    { act: { ...command, run: 'git push -f' } },
    { act: { type: 'command', argv: ['git', 'push'], stdin: 'null', programs: [git('1')] } },
    { act: { ...command, stdin: 'pipe' } },
    { act: { ...command, stdin: { text: 'yes' } } },
    { act: { ...command, programs: [git('2')] } },
    { act: { ...command, programs: [] } },
    { act: { type: 'tool', tool: 'a', input: 1 } },
    { act: { type: 'tool', tool: 'a', input: 2 } },
    { act: { type: 'tool', tool: 'b', input: 1 } },
    { act: { type: 'workflow', workflow: 'a', input: 1 } },
    { act: { type: 'agent', agent: 'a', goal: 1 } },
  ]
  const texts = [{}, ...others].map((change) => actionText({ ...PUSH, ...change }))
  expect(new Set(texts).size).toBe(others.length + 1)
})
