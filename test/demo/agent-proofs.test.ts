import { expect, test } from 'vitest'
import { type AgentEvidence, proveAgent } from '../../src/demo/agent-proofs.ts'

type Item = AgentEvidence['items'][number]

const TOOLS = ['read_file', 'run_command', 'edit_file', 'run_command']
const SOUND: AgentEvidence = {
  items: [
    ...TOOLS.flatMap((tool, index) => [
      item('tool_called', { callId: `c${index}`, tool }),
      item('tool_answered', { callId: `c${index}` }),
    ]),
    item('turn_ended', { reason: 'finished' }),
  ],
  wasGone: true,
  testRuns: 2,
  source: 'return a + b\n',
  testsPass: true,
}

test('sound evidence proves everything', () => {
  expect(failing(SOUND)).toEqual([])
})

test.each<[string, Partial<AgentEvidence>, string]>([
  ['a daemon that lived on', { wasGone: false }, 'The daemon was gone'],
  ['a command that ran twice', { testRuns: 3 }, 'Each command ran once'],
  ['a file that was not repaired', { source: 'return a - b\n' }, 'sum.js was repaired once'],
  ['tests that fail', { testsPass: false }, 'The tests pass'],
  ['a turn that did not end', { items: SOUND.items.slice(0, -1) }, 'The turn went on'],
  [
    'a second result',
    { items: [...SOUND.items, item('tool_answered', { callId: 'c1' })] },
    'Each call has one',
  ],
])('%s is no proof', (_what, changed, text) => {
  expect(failing({ ...SOUND, ...changed })).toEqual([expect.stringContaining(text)])
})

function failing(evidence: AgentEvidence): string[] {
  return proveAgent(evidence).flatMap((proof) => (proof.holds ? [] : [proof.text]))
}

function item(type: Item['type'], payload: object): Item {
  return { pid: 'p_1', seq: 1, at: 0, actor: 'host', type, payload } as unknown as Item
}
