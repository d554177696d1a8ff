import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FLOOD_LIMITS } from '../../src/core/inbox/flood.ts'
import { decideClaim } from '../../src/core/lease/decide-claim.ts'
import { decide } from '../../src/core/process/decide.ts'
import type { ProcessEvent } from '../../src/core/process/event.ts'
import { fold, refold } from '../../src/core/process/fold.ts'
import { type Intent, replayKeyOf } from '../../src/core/process/intent.ts'
import { decideRegister } from '../../src/core/process/register.ts'
import type { ProcessRow } from '../../src/core/process/row.ts'
import { FACTS, INTENT } from '../core/registered.ts'

const PID = 'p_workflow'
const rules = {
  validate: () => undefined,
  mask: (text: string) => text,
  maxPayloadBytes: 1_000,
  maxPendingSignals: 5,
  flood: FLOOD_LIMITS,
}

/**
 * A workflow between holders that die at any moment: the last write of each may be stored or lost. A holder that
 * does not know that it lost its lease goes on writing.
 */
const move = fc.oneof(
  fc.record({ do: fc.constant('claim' as const), holder: fc.constantFrom('k1', 'k2') }),
  fc.record({ do: fc.constant('die' as const) }),
  fc.record({
    do: fc.constant('step' as const),
    stepIndex: fc.integer({ min: 1, max: 5 }),
    value: fc.nat(9),
    stale: fc.boolean(),
  }),
  fc.record({ do: fc.constant('wait' as const), name: fc.constantFrom('go', 'on') }),
  fc.record({ do: fc.constant('signal' as const), name: fc.constantFrom('go', 'on') }),
  fc.record({ do: fc.constant('park' as const) }),
)

test('after any crash and any late write, a step is in the log once, and its first end counts', () => {
  const seen = { steps: 0, parked: 0, stale: 0 }
  const property = fc.property(fc.array(move, { maxLength: 40 }), (moves) => {
    let row = registered()
    let events: readonly ProcessEvent[] = []
    const first = new Map<number, unknown>()
    for (const [at, one] of moves.entries()) {
      const intent = intentOf(row, one, at)
      const before = row
      ;({ row, events } = play(row, events, one, intent, at))
      const fresh = row.record.revision > before.record.revision
      const appended = fresh ? events.at(-1) : undefined
      if (one.do === 'step' && appended?.type === 'step_ended') {
        expect(first.has(one.stepIndex), 'it was not there before').toBe(false)
        expect(one.stale, 'a stale fence writes nothing').toBe(false)
        first.set(one.stepIndex, appended.payload)
        seen.steps += 1
      } else if (one.do === 'step' && one.stale) seen.stale += 1
      if (row.record.parked && row.record.status === 'waiting') {
        seen.parked += 1
        expect([row.holder, row.record.wait !== null]).toEqual([null, true])
      }
      if (row.holder !== null) expect(row.record.parked).toBe(false)
    }
    const logged = events.filter(({ type }) => type === 'step_ended').map(({ payload }) => payload)
    expect(logged).toEqual([...first.values()])
    expect(row.record.journal?.last ?? 0).toBe(Math.max(0, ...first.keys()))
    expect(refold([...begin(), ...events])).toEqual(row.record)
  })
  fc.assert(property, { numRuns: 1_000 })
  // Far fewer than there are on average: chance decides.
  for (const times of Object.values(seen)) expect(times).toBeGreaterThan(20)
})

type Move = typeof move extends fc.Arbitrary<infer One> ? One : never

function intentOf(row: ProcessRow, one: Move, at: number): Intent | undefined {
  const asked = { pid: PID, actor: 'kernel:k1', at } as const
  const fence = { holder: row.holder ?? 'k1', fence: row.fence }
  switch (one.do) {
    case 'step': {
      const { stepIndex, value, stale } = one
      const step = { stepIndex, kind: 'step', name: 'work', began: at, tries: 1, how: 'done', value } as const
      return { ...asked, type: 'end_step', step, fence: stale ? { ...fence, fence: fence.fence - 1 } : fence }
    }
    case 'wait': {
      const ordinal = (row.record.signals[one.name]?.taken ?? 0) + 1
      return {
        ...asked,
        type: 'enter_wait',
        wait: { on: 'signal', name: one.name, ordinal },
        until: null,
        fence,
      }
    }
    case 'signal':
      return { ...asked, type: 'signal', name: one.name, id: String(at), value: at }
    case 'park':
      return { ...asked, type: 'park', waits: [], fence }
    case 'die':
      return row.holder === null
        ? undefined
        : { ...asked, type: 'put_back', observed: row, evidence: 'holder_dead', retryAt: 0 }
    case 'claim':
      return undefined
  }
}

function play(
  row: ProcessRow,
  events: readonly ProcessEvent[],
  one: Move,
  asked: Intent | undefined,
  at: number,
): { readonly row: ProcessRow; readonly events: readonly ProcessEvent[] } {
  let [was, intent] = [row, asked]
  if (one.do === 'claim') {
    const claim = decideClaim(row, { holder: one.holder, here: [] }, at)
    if (claim.type !== 'granted' || row.holder !== null) return { row, events }
    was = { ...row, ...claim.lease }
    intent = { type: 'start', pid: PID, actor: 'kernel:k1', at, fence: claim.lease }
  }
  if (intent === undefined) return { row, events }
  const key = replayKeyOf(intent)
  const found = key === null ? undefined : events.find(({ replayKey }) => replayKey === key)
  const replayed = found === undefined ? null : { ...found, position: found.seq }
  const decision = decide({ row: was, replayed }, intent, rules)
  if (decision.type !== 'append') return { row, events }
  const { lease = was } = decision
  const folded = fold({ pid: PID, was: row, group: null, events: decision.events, lease, actor: 'host', at })
  const [change] = folded.changes
  return { row: folded.row, events: [...events, ...(change?.type === 'process' ? change.events : [])] }
}

function registering() {
  const request = { kind: 'workflow', spec: { workflow: 'work' } } as const
  const decision = decideRegister(FACTS, { ...INTENT, pid: PID, at: 0, request }, rules)
  if (decision.type !== 'register') throw new Error('It was refused')
  const lease = { holder: null, fence: 0 }
  return fold({ pid: PID, was: null, group: null, events: decision.events, lease, actor: 'host', at: 0 })
}

function registered(): ProcessRow {
  return registering().row
}

function begin(): readonly ProcessEvent[] {
  const [change] = registering().changes
  return change?.type === 'process' ? change.events : []
}
