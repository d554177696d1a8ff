import type { ProcessEvent } from '../process/event.ts'
import { type AgentEvent, ENTRY_EVENTS, isEntry } from './event.ts'
import type { Part } from './state.ts'

/** The events of a session log that a view shows: its entries, and what happened between them. */
const LOGGED = [
  ...ENTRY_EVENTS,
  'model_call_begun',
  'model_used',
  'model_call_retried',
  'agent_configured',
  'session_continued',
  'session_rewound',
  'agent_alerted',
  'files_put_back',
  'agent_failed',
] as const satisfies readonly AgentEvent['type'][]

/** An event of the view, as it is stored. */
export type LoggedEvent = Extract<AgentEvent, { type: (typeof LOGGED)[number] }> &
  Pick<ProcessEvent, 'pid' | 'seq' | 'at' | 'actor'>

type Promoted = Extract<LoggedEvent, { type: 'input_promoted' | 'notices_promoted' }>
type WithParts<Event extends Promoted> = Event extends Promoted
  ? Omit<Event, 'payload'> & { readonly payload: Event['payload'] & { readonly parts: readonly Part[] } }
  : never

/** An item of the view: an input and notices that a turn took have their parts, which are in an earlier event. */
export type LogItem = Exclude<LoggedEvent, Promoted> | WithParts<Promoted>

const TYPES: ReadonlySet<string> = new Set(LOGGED)

export function loggedEvent({ pid, seq, at, actor, type, payload }: ProcessEvent): LoggedEvent | null {
  const untyped: unknown = { pid, seq, at, actor, type, payload }
  return TYPES.has(type) ? (untyped as LoggedEvent) : null
}

/** The events that have the parts of an item. */
export function promotedBy(event: LoggedEvent): readonly number[] {
  if (event.type === 'input_promoted') return [event.payload.seq]
  return event.type === 'notices_promoted' ? event.payload.seqs : []
}

export function logItem(event: LoggedEvent, promoted: readonly Part[]): LogItem {
  switch (event.type) {
    case 'input_promoted':
      return { ...event, payload: { ...event.payload, parts: promoted } }
    case 'notices_promoted':
      return { ...event, payload: { ...event.payload, parts: promoted } }
    default:
      return event
  }
}

/** The turn of an item; null if it belongs to none. */
export function turnOf({ payload }: LoggedEvent | LogItem): number | null {
  return 'turn' in payload ? payload.turn : null
}

/**
 * A walk along the current branch, from its head back. Entries behind `through` are on another branch. Items that are not entries are
 * `pending` until the next entry says whether their turn is on this branch.
 */
export interface BackwardWalk {
  readonly through: number
  readonly pending: readonly LoggedEvent[]
}

export function walkFrom(head: number): BackwardWalk {
  return { through: head, pending: [] }
}

/** Whether the walk may stop and begin again at `through + 1`, without an item being lost. */
export function canStop({ through, pending }: BackwardWalk, first: number): boolean {
  return pending.length === 0 && through === first - 1
}

/** One step back. `items`: those that are known to be on the branch now, the latest first. */
export function stepBack(
  walk: BackwardWalk,
  event: LoggedEvent,
): { readonly walk: BackwardWalk; readonly items: readonly LoggedEvent[] } {
  if (!isEntry(event.type)) return { walk: { ...walk, pending: [...walk.pending, event] }, items: [] }
  if (event.seq > walk.through) return { walk, items: [] }
  const turn = turnOf(event)
  const settled = walk.pending.filter((one) => turnOf(one) === null || turnOf(one) === turn)
  const through = event.type === 'turn_begun' ? event.payload.follows : event.seq - 1
  return { walk: { through, pending: [] }, items: [...settled, event] }
}
