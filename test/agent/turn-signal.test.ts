import { expect, test } from 'vitest'
import { TurnSignal } from '../../src/agent/turn-signal.ts'
import type { ProcessEvent } from '../../src/core/process/event.ts'
import { PID, PureAgent, run } from '../core/agent/pure-agent.ts'

/** A signal for an agent in its first turn, with a feed that the test plays. */
function firstTurn() {
  const agent = new PureAgent()
  agent.request(run('i'))
  agent.claim()
  let hear: (events: readonly (ProcessEvent & { position: number })[] | null) => void = () => undefined
  const signal = new TurnSignal(
    {
      feed: {
        on: (_pid, listener) => {
          hear = listener
          return () => undefined
        },
      },
      edges: {
        store: { ask: () => Promise.reject(new Error('not asked')) },
        clock: { now: () => 0, after: () => () => undefined },
        onTrouble: () => undefined,
      },
    },
    PID,
  )
  /** Does something, and tells the signal of it. */
  const tell = (act: () => unknown) => {
    const before = agent.events.length
    act()
    hear(agent.events.slice(before).map((event) => ({ ...event, position: event.seq })))
  }
  return { agent, signal, tell }
}

test('work that begins after its turn has ended is aborted, also if the end was heard before it began', () => {
  const { agent, signal, tell } = firstTurn()
  const { mark } = signal
  tell(() => agent.request({ type: 'cancel_turn', id: 'c' }))
  expect(signal.of(1, mark).aborted).toBe(true)
  tell(() => agent.request(run('j')))
  expect(signal.of(2, signal.mark).aborted).toBe(false)
})

test('work of a paused turn is aborted, and of the same turn after it was resumed is not', () => {
  const { agent, signal, tell } = firstTurn()
  agent.act({ type: 'begin_call', turn: 1, call: 1, model: 'scripted/demo' })
  agent.act({ type: 'begin_output', turn: 1, call: 1 })
  const { mark } = signal
  const work = signal.of(1, mark)
  tell(() => agent.request({ type: 'pause', id: 'p' }))
  expect(work.aborted).toBe(true)
  expect(signal.of(1, mark).aborted).toBe(true)
  tell(() => agent.request({ type: 'resume', id: 'r' }))
  expect(signal.of(1, mark).aborted).toBe(false)
})
