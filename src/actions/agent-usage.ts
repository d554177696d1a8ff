import { turnEndedKey, usageKey } from '../core/agent/act.ts'
import type { AgentEvent } from '../core/agent/event.ts'
import type { AgentState, OpenTurn } from '../core/agent/state.ts'
import { exact } from '../core/allowance/amounts.ts'
import { objectOf } from '../core/json/json.ts'
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

/** Events of one read, and their bytes: a page of a long log must fit in memory. */
const READ_EVENTS = 200
const READ_BYTES = 1024 * 1024
/** Calls of one page: then it ends with the turn. */
const MAX_CALLS = 10_000

/** The use of an agent itself. Before its first call nothing is unknown. */
export function usedBy({ totals }: Pick<AgentState, 'totals'>): Used {
  const { inputTokens, outputTokens, cost, unpriced } = totals
  return { inputTokens, outputTokens, unpriced, cost: cost === 0 && unpriced > 0 ? null : cost }
}

/**
 * The model calls of the turns behind one, by turn. It reads from the end of that turn up to the first call of a turn that the page does
 * not have: the use of a cancelled call is recorded after the end of its turn, and before the next call.
 */
export async function turnCosts(
  store: Store,
  { pid, revision }: ProcessRecord,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<{ readonly turns: TurnCost[]; readonly next: number | null }> {
  const page = new CostPage(after, limit)
  for (let at = await endOf(store, pid, after); at !== null && at < revision; ) {
    const events = await store.ask({ ask: 'events', pid, after: at, limit: READ_EVENTS, bytes: READ_BYTES })
    for (const event of events) if (!page.takes(event)) return page.whole(true)
    at = events.at(-1)?.seq ?? null
  }
  return page.whole(false)
}

/** Where a turn ends in the log; null if it has not ended, so that no turn follows it. */
async function endOf(store: Store, pid: Pid, turn: number): Promise<number | null> {
  if (turn === 0) return 0
  return (await store.ask({ ask: 'event', pid, replayKey: turnEndedKey(turn) }))?.seq ?? null
}

class CostPage {
  readonly #after: number
  readonly #limit: number
  readonly #turns = new Map<number, CallCost[]>()
  #last = 0
  #calls = 0

  constructor(after: number, limit: number) {
    this.#after = after
    this.#limit = limit
  }

  /** False if the event begins a turn that the page has no room for. */
  takes(event: StoredEvent): boolean {
    if (event.type === 'model_call_begun') {
      const { turn } = objectOf(event.payload)
      return !this.#isFull || Number(turn) <= this.#last
    }
    if (event.type !== 'model_used') return true
    const { turn, ...call } = callOf(event)
    if (turn <= this.#after) return true
    const calls = this.#turns.get(turn) ?? []
    calls.push(call)
    this.#turns.set(turn, calls)
    this.#last = Math.max(this.#last, turn)
    this.#calls += 1
    return true
  }

  whole(isCut: boolean) {
    const turns = [...this.#turns].map(([turn, calls]) => ({ turn, ...sumOf(calls), calls }))
    return { turns, next: isCut ? this.#last : null }
  }

  get #isFull(): boolean {
    return this.#turns.size >= this.#limit || this.#calls >= MAX_CALLS
  }
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
