import { expect, test } from 'vitest'
import { turnCosts } from '../../src/actions/agent-usage.ts'
import { answer, PureAgent, run } from '../core/agent/pure-agent.ts'
import { logStore } from './log-store.ts'

const USED = { cachedInputTokens: 0, outputTokens: 1, cost: 0.5, isEstimate: false } as const

/** A session with so many turns of so many calls; turn 3 is cancelled, and its use is recorded after its end. */
function session(turns: number, calls: number): PureAgent {
  const agent = new PureAgent()
  const use = (turn: number, call: number) =>
    agent.act({ type: 'record_usage', turn, call, model: 'm/m', inputTokens: turn, ...USED })
  for (let turn = 1; turn <= turns; turn++) {
    agent.request(run(`i${turn}`))
    if (agent.row.holder === null) agent.claim()
    for (let call = 1; call <= calls; call++) {
      answer(agent, call < calls ? ['t'] : [])
      if (call < calls) agent.act({ type: 'record_result', turn, call, index: 0, parts: [], isError: false })
      if (turn !== 3 || call < calls) use(turn, call)
    }
    if (turn === 3) {
      agent.request({ type: 'cancel_turn', id: 'c' })
      agent.request(run('i4'))
      use(turn, calls)
    } else agent.act({ type: 'end_turn', turn, reason: 'finished' })
  }
  return agent
}

test('pages of costs have each turn once, with all its calls', async () => {
  const agent = session(9, 2)
  const { store } = logStore(agent.events)
  const pages = []
  for (let after: number | null = 0; after !== null; ) {
    const page: Awaited<ReturnType<typeof turnCosts>> = await turnCosts(store, agent.row.record, {
      after,
      limit: 4,
    })
    pages.push(
      page.turns.map(({ turn, calls, inputTokens, cost }) => [turn, calls.length, inputTokens, cost]),
    )
    after = page.next
  }
  expect(pages).toEqual([
    [1, 2, 3, 4].map((turn) => [turn, 2, 2 * turn, 1]),
    [5, 6, 7, 8].map((turn) => [turn, 2, 2 * turn, 1]),
    [[9, 2, 18, 1]],
  ])
})

test('a page of costs reads its part of a long log', async () => {
  const agent = session(2_000, 1)
  for (const after of [0, 1_000]) {
    const { store, asked } = logStore(agent.events)
    const { turns, next } = await turnCosts(store, agent.row.record, { after, limit: 20 })
    expect(turns.map(({ turn }) => turn)).toEqual(Array.from({ length: 20 }, (_, index) => after + 1 + index))
    expect(next).toBe(after + 20)
    expect(asked.events).toBeLessThan(1_000)
  }
  expect(agent.events.length).toBeGreaterThan(10_000)
})
