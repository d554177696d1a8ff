import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { branchAfter, itemsAfter, itemsBefore } from '../../src/actions/agent-log-pages.ts'
import { isEntry } from '../../src/core/agent/event.ts'
import { entriesInView } from '../../src/core/agent/history.ts'
import { loggedEvent } from '../../src/core/agent/log-view.ts'
import { answer, PID, PureAgent, run } from '../core/agent/pure-agent.ts'
import { logStore } from './log-store.ts'

/** Turns of all sorts: answered, rolled back, cut, with tools, alerts and changed models in between. */
function session(steps: readonly number[]): PureAgent {
  const agent = new PureAgent()
  for (const [index, step] of steps.entries()) {
    if (agent.agent.turn === null) agent.request(run(`i${index}`))
    agent.claim()
    const { number: turn = 0, calls = 0 } = agent.agent.turn ?? {}
    switch (step) {
      case 0:
        agent.request({ type: 'cancel_turn', id: `c${index}` })
        break
      case 1:
        answer(agent)
        agent.act({ type: 'end_turn', turn, reason: 'finished' })
        break
      case 2:
        answer(agent, ['read'])
        agent.request({ type: 'cancel_turn', id: `c${index}` })
        break
      case 3:
        agent.act({ type: 'begin_call', turn, call: calls + 1, model: 'm/m' })
        agent.request({ type: 'cancel_turn', id: `c${index}` })
        break
      case 4:
        agent.act({ type: 'begin_call', turn, call: calls + 1, model: 'm/m' })
        agent.act({ type: 'begin_output', turn, call: calls + 1, from: index * 10 })
        agent.act({ type: 'cut_call', turn, call: calls + 1, why: 'broken', shown: 5 })
        break
      case 5:
        agent.request({ type: 'configure', id: `m${index}`, model: 'other/model' })
        break
      default:
        agent.act({ type: 'alert', turn, alert: 'silent', message: 'hm', key: `a${index}` })
    }
  }
  return agent
}

async function readBack(agent: PureAgent, limit: number) {
  const { store } = logStore(agent.events)
  const pages = []
  let before: number | null = agent.events.length + 1
  while (before !== null) {
    const head = Math.min(agent.agent.head, before - 1)
    const page: Awaited<ReturnType<typeof itemsBefore>> = await itemsBefore(store, {
      pid: PID,
      limit,
      blobs: false,
      head,
      before,
    })
    pages.unshift(page.items)
    before = page.before
  }
  return pages
}

describe('pages towards the beginning', () => {
  const steps = fc.array(fc.nat(6), { maxLength: 60 })

  test('have the entries of the current branch, each once and in order', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 20 }), async (taken, limit) => {
        const agent = session(taken)
        const items = (await readBack(agent, limit)).flat()
        const seqs = items.map(({ seq }) => seq)
        expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b))
        const entries = items.filter(({ type }) => isEntry(type)).map(({ seq }) => seq)
        expect(entries).toEqual(entriesInView(agent.events).map(({ seq }) => seq))
      }),
    )
  })

  test('have the same items for every page size, also those between entries', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 20 }), async (taken, limit) => {
        const agent = session(taken)
        const whole = (await readBack(agent, 10_000)).flat()
        expect((await readBack(agent, limit)).flat()).toEqual(whole)
      }),
    )
  })

  test('read only the end of a long log', async () => {
    const agent = session(Array.from({ length: 2_000 }, (_, index) => (index % 5 === 0 ? 0 : 1)))
    const { store, asked } = logStore(agent.events)
    const { head } = agent.agent
    const before = agent.events.length + 1
    const page = await itemsBefore(store, { pid: PID, limit: 50, blobs: false, head, before })
    expect(page.items.length).toBeGreaterThanOrEqual(50)
    expect(page.items.length).toBeLessThan(60)
    expect(asked.events).toBeLessThan(600)
    expect(agent.events.length).toBeGreaterThan(10_000)
  })

  test('have the parts of inputs', async () => {
    const [page] = await readBack(session([1]), 100)
    const promoted = page?.find(({ type }) => type === 'input_promoted')
    expect(promoted?.payload).toMatchObject({ input: 'i0', parts: [{ type: 'text', text: 'i0' }] })
  })
})

test('pages after a seq have all items in the order of the log, also of turns that were rolled back', async () => {
  const agent = session([0, 1, 4, 1, 5, 6, 2])
  const { store } = logStore(agent.events)
  const through = agent.events.length
  const items = []
  for (let after = 0, more = true; more; ) {
    const page = await itemsAfter(store, { pid: PID, limit: 3, blobs: false, after, through })
    items.push(...page.items)
    ;({ after, more } = page)
  }
  const all = agent.events.flatMap((event) => loggedEvent(event)?.seq ?? [])
  expect(items.map(({ seq }) => seq)).toEqual(all)
  expect(items.map(({ type }) => type)).toContain('turn_ended')
})

test('a page of an export reads little more of a long log than it shows', async () => {
  const agent = session(Array.from({ length: 2_000 }, (_, index) => (index % 5 === 0 ? 0 : 1)))
  const through = agent.events.length
  for (const after of [0, Math.floor(through / 2)]) {
    const { store, asked } = logStore(agent.events)
    const page = await branchAfter(store, { pid: PID, limit: 50, after, through, agent: agent.agent })
    expect(page.items.length).toBeGreaterThanOrEqual(50)
    expect(page.items.length).toBeLessThan(60)
    expect(asked.events).toBeLessThan(600)
  }
})

test('the pages of an export have the branch without turns that were rolled back, for every page size', async () => {
  const agent = session([0, 1, 4, 1, 5, 6, 2, 3, 1, 0])
  const through = agent.events.length
  const pagesOf = async (limit: number) => {
    const { store } = logStore(agent.events)
    const items = []
    for (let after = 0, more = true; more; ) {
      const page = await branchAfter(store, { pid: PID, limit, after, through, agent: agent.agent })
      items.push(...page.items)
      ;({ after, more } = page)
    }
    return items
  }
  const whole = await pagesOf(1_000)
  const entries = whole.filter(({ type }) => isEntry(type)).map(({ seq }) => seq)
  expect(entries).toEqual(entriesInView(agent.events).map(({ seq }) => seq))
  for (const limit of [1, 2, 5]) expect(await pagesOf(limit)).toEqual(whole)
})
