import type { Reeve } from 'reeve'
import { describe, expect, test } from 'vitest'
import { answerOrCode, type ServedAgents, serveAgents, text } from './served-agents.ts'

const STATES = ['idle', 'running', 'paused'] as const
type State = (typeof STATES)[number]
type Cells = Record<State, object | string>

const cell = (type: string, more: object = {}) => ({ type, ...more })
const OPEN = [{ turn: 1, call: 1, index: 0 }]
const STOPPED = { returned: [], queued: [], dropped: [], next: null }
const every = (answer: object | string): Cells => ({ idle: answer, running: answer, paused: answer })

/** Every cell of the table: a call, and its answer in each state. A text is the code of a refusal. */
const table: readonly (readonly [string, (reeve: Reeve, pid: string) => Promise<unknown>, Cells])[] = [
  [
    'runAgent',
    (reeve, pid) => reeve.runAgent({ pid, id: 'i', text: 'go' }),
    {
      idle: cell('started', { input: 'i', turn: 1, interrupts: [] }),
      running: 'already_running',
      paused: cell('started', { input: 'i', turn: 2, interrupts: OPEN }),
    },
  ],
  [
    'runAgent, queued',
    (reeve, pid) => reeve.runAgent({ pid, id: 'i', text: 'go', mode: 'queue' }),
    {
      idle: cell('started', { input: 'i', turn: 1, interrupts: [] }),
      running: cell('admitted', { input: 'i', mode: 'queue', place: 1 }),
      paused: cell('admitted', { input: 'i', mode: 'queue', place: 1 }),
    },
  ],
  [
    'runAgent, steering',
    (reeve, pid) => reeve.runAgent({ pid, id: 'i', parts: text('go'), mode: 'steer' }),
    {
      idle: cell('started', { input: 'i', turn: 1, interrupts: [] }),
      running: cell('admitted', { input: 'i', mode: 'steer', place: 1 }),
      paused: cell('admitted', { input: 'i', mode: 'steer', place: 1 }),
    },
  ],
  [
    'resumeAgent',
    (reeve, pid) => reeve.resumeAgent({ pid, id: 'r' }),
    { idle: 'not_paused', running: 'already_running', paused: cell('resumed', { turn: 1 }) },
  ],
  [
    'cancelTurn',
    (reeve, pid) => reeve.cancelTurn({ pid, id: 'r' }),
    {
      idle: 'not_running',
      running: cell('cancelled', { turn: 1, ...STOPPED, interrupts: OPEN }),
      paused: 'not_running',
    },
  ],
  [
    'pauseAgent',
    (reeve, pid) => reeve.pauseAgent({ pid, id: 'r' }),
    { idle: 'not_running', running: cell('paused', { turn: 1 }), paused: cell('already_paused') },
  ],
  [
    'notifyAgent',
    (reeve, pid) => reeve.notifyAgent({ pid, id: 'n', text: 'look' }),
    {
      idle: cell('buffered', { notice: 'n', turn: 1, isCounted: false }),
      running: cell('buffered', { notice: 'n', turn: null, isCounted: false }),
      paused: cell('buffered', { notice: 'n', turn: null, isCounted: false }),
    },
  ],
  [
    'compactAgent',
    (reeve, pid) => reeve.compactAgent({ pid, id: 'r' }),
    { idle: cell('compacting', { turn: 1 }), running: 'already_running', paused: 'invalid_request' },
  ],
  [
    'rewindAgent',
    (reeve, pid) => reeve.rewindAgent({ pid, id: 'r', turn: 1 }),
    { idle: 'not_found', running: 'already_running', paused: 'invalid_request' },
  ],
  [
    'rewindPoints',
    (reeve, pid) => reeve.rewindPoints({ pid }),
    {
      idle: { head: 0, turns: [], next: null, branches: [] },
      running: 'already_running',
      paused: { head: expect.any(Number), turns: [], next: null, branches: [] },
    },
  ],
  [
    'shutDownAgent',
    (reeve, pid) => reeve.shutDownAgent({ pid, id: 'r' }),
    {
      idle: cell('exited', { interrupts: [] }),
      running: cell('stopping', { interrupts: OPEN }),
      paused: cell('stopping', { interrupts: OPEN }),
    },
  ],
  [
    'configureAgent',
    (reeve, pid) => reeve.configureAgent({ pid, id: 'r', model: 'scripted/demo' }),
    every(cell('configured', { model: 'scripted/demo' })),
  ],
  [
    'allowAgent',
    (reeve, pid) => reeve.allowAgent({ pid, id: 'r', amounts: { cost: 1 } }),
    every(cell('allowed', { turn: null })),
  ],
  [
    'editInput of no input',
    (reeve, pid) => reeve.editInput({ pid, id: 'r', input: 'x', text: 'x' }),
    every('not_found'),
  ],
  [
    'removeInput of no input',
    (reeve, pid) => reeve.removeInput({ pid, id: 'r', input: 'x' }),
    every('not_found'),
  ],
  [
    'reorderInputs of no input',
    (reeve, pid) => reeve.reorderInputs({ pid, id: 'r', inputs: ['x'] }),
    every('invalid_request'),
  ],
  [
    'completeInput',
    (reeve, pid) => reeve.completeInput({ pid, text: '/' }),
    every({ from: 0, completions: [], more: false }),
  ],
  ['agentInputs', (reeve, pid) => reeve.agentInputs({ pid }), every({ inputs: [] })],
]

const LIMITED = { allowance: { cost: 5, tokensIn: 10_000, tokensOut: 10_000 } }

async function inState(served: ServedAgents, state: State): Promise<string> {
  if (state === 'idle') return served.idle({}, LIMITED)
  const pid = await served.running({}, LIMITED)
  if (state === 'paused') await served.reeve.pauseAgent({ pid, id: 'first pause' })
  return pid
}

describe('over HTTP each method has its own answer in each state, and a repeated request gets the same one', () => {
  for (const [name, call, expected] of table) {
    for (const state of STATES) {
      test(`${name}, ${state}`, async () => {
        const served = await serveAgents()
        const { reeve } = served
        const pid = await inState(served, state)
        const before = await reeve.show({ pid })
        const wanted = expected[state]
        expect(await answerOrCode(call(reeve, pid))).toEqual(wanted)
        if (typeof wanted === 'string') {
          expect(await reeve.show({ pid })).toEqual(before)
          return
        }
        // The first answer was lost: the client asks again.
        expect(await answerOrCode(call(reeve, pid))).toEqual(wanted)
      })
    }
  }

  test('inspectAgent, agents, agentCost and followAgent answer in each state', async () => {
    const served = await serveAgents()
    for (const state of STATES) {
      const pid = await inState(served, state)
      expect(await served.reeve.inspectAgent({ pid })).toMatchObject({ pid, phase: state })
      expect(await served.reeve.agentCost({ pid })).toMatchObject({ pid, turns: [], next: null })
      for await (const first of served.reeve.followAgent({ pid })) {
        expect(first).toMatchObject({ type: 'snapshot' })
        break
      }
      const { agents } = await served.reeve.agents()
      expect(agents[0]).toMatchObject({ pid, phase: state })
    }
  })
})
