import { usageKey } from '../core/agent/act.ts'
import type { AgentEvent } from '../core/agent/event.ts'
import type { AgentState, OpenTurn } from '../core/agent/state.ts'
import { exact } from '../core/allowance/amounts.ts'
import type { StoredEvent } from '../core/process/event.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { Sums } from '../kernel/sums.ts'
import type { Store } from '../store/contract.ts'
import type { OutputOf } from '../verbs/reeve.ts'
import { processesBelow } from './agent-tree.ts'
import type { TurnResult } from './turn-results.ts'

type Answer = OutputOf<'agentCost'>
export type Used = Answer['total']
type TurnCost = Answer['turns'][number]
type CallCost = TurnCost['calls'][number]

const PAGE = 500
/** Events may be large: a page of them must fit in memory. */
const PAGE_BYTES = 8 * 1024 * 1024

/** The use of an agent itself. Before its first call nothing is unknown. */
export function usedBy({ totals }: Pick<AgentState, 'totals'>): Used {
  const { inputTokens, outputTokens, cost, unpriced } = totals
  return { inputTokens, outputTokens, unpriced, cost: cost === 0 && unpriced > 0 ? null : cost }
}

/** The model calls of an agent, by turn. */
export async function turnCosts(store: Store, { pid, revision }: ProcessRecord): Promise<TurnCost[]> {
  const turns = new Map<number, CallCost[]>()
  for (let after = 0; after < revision; ) {
    const events = await store.ask({ ask: 'events', pid, after, limit: PAGE, bytes: PAGE_BYTES })
    for (const event of events) {
      if (event.type !== 'model_used') continue
      const { turn, ...call } = callOf(event)
      turns.set(turn, [...(turns.get(turn) ?? []), call])
    }
    const last = events.at(-1)
    if (last === undefined) break
    after = last.seq
  }
  return [...turns].map(([turn, calls]) => ({ turn, ...sumOf(calls), calls }))
}

function callOf({ at, payload }: StoredEvent): CallCost & { readonly turn: number } {
  const untyped: unknown = payload
  return { at, ...(untyped as Extract<AgentEvent, { type: 'model_used' }>['payload']) }
}

function sumOf(calls: readonly CallCost[]): Used {
  const priced = calls.flatMap(({ cost }) => (cost === null ? [] : [cost]))
  return {
    inputTokens: calls.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
    outputTokens: calls.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
    cost: priced.length === 0 && calls.length > 0 ? null : exact(priced.reduce((sum, cost) => sum + cost, 0)),
    unpriced: calls.length - priced.length,
  }
}

/** The use of an agent and of everything below it, also of processes that were pruned: accounts keep their use. */
export async function usedInTree(store: Store, record: ProcessRecord, own: Used): Promise<Used> {
  const budget = await new Sums(store).of(record)
  if (budget === null) return own
  const { tokensIn = 0, tokensOut = 0, cost = 0 } = budget.total
  const filter = { kind: ['agent'], status: 'any' } as const
  const { records } = await processesBelow(store, record, filter, { own: false })
  const unpriced = records.reduce((sum, { agent }) => sum + (agent?.totals.unpriced ?? 0), own.unpriced)
  return {
    inputTokens: tokensIn,
    outputTokens: tokensOut,
    cost: cost === 0 && unpriced > 0 ? null : cost,
    unpriced,
  }
}

/** How much of the context window the last model call used; null before the first one. */
export async function contextTokens(
  store: Store,
  pid: Pid,
  open: OpenTurn | null,
  ended: TurnResult | null,
): Promise<number | null> {
  for (const { turn, calls } of [
    ...(open === null ? [] : [{ turn: open.number, calls: open.calls }]),
    ...(ended === null ? [] : [ended]),
  ]) {
    // The last call has no usage while it is under way.
    for (const call of [calls, calls - 1].filter((number) => number > 0)) {
      const event = await store.ask({ ask: 'event', pid, replayKey: usageKey({ turn, call }) })
      if (event === null) continue
      const { inputTokens, outputTokens } = callOf(event)
      return inputTokens + outputTokens
    }
  }
  return null
}
