import { isOnBranch } from '../core/agent/branch.ts'
import { type HeldTurn, stepForward } from '../core/agent/export/branch.ts'
import {
  canStop,
  type LoggedEvent,
  type LogItem,
  loggedEvent,
  logItem,
  promotedBy,
  stepBack,
  turnOf,
  walkFrom,
} from '../core/agent/log-view.ts'
import type { AgentState, Part } from '../core/agent/state.ts'
import type { StoredEvent } from '../core/process/event.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Store } from '../store/contract.ts'
import { type BlobBudget, newBlobBudget, partsWithBlobs } from './agent-log-blobs.ts'

/** How many bytes of events one page reads, or a little more. */
const PAGE_BYTES = 1024 * 1024
/** Events of one read. There are about two for each item. */
const READ_EVENTS = 200

interface Asked {
  readonly pid: Pid
  readonly limit: number
  readonly blobs: boolean
}

/** The last items of the branch that ends at `head`, of events before a `seq`. Reads no more of the log than it shows. */
export async function itemsBefore(
  store: Store,
  { pid, limit, blobs, head, before }: Asked & { readonly head: number; readonly before: number },
): Promise<{ readonly items: LogItem[]; readonly before: number | null }> {
  const found: LoggedEvent[] = []
  let walk = walkFrom(head)
  let at = before
  let bytes = 0
  while (at > 1) {
    const page = await store.ask({ ask: 'tail', pid, before: at, limit: READ_EVENTS, bytes: PAGE_BYTES })
    if (page.length === 0) break
    for (const event of page.toReversed()) {
      at = event.seq
      bytes += sizeOf(event)
      const logged = loggedEvent(event)
      if (logged === null) continue
      const step = stepBack(walk, logged)
      walk = step.walk
      found.push(...step.items)
      const isFull = found.length >= limit || bytes >= PAGE_BYTES
      if (isFull && canStop(walk, event.seq)) {
        const items = await whole(store, pid, found.reverse(), blobs)
        return { items, before: event.seq }
      }
    }
    // The events up to the entry that the branch follows are on another branch, except for items that are not entries.
    if (walk.pending.length === 0) at = Math.min(at, Math.max(walk.through + 1, 1))
  }
  found.push(...walk.pending.filter((event) => !('turn' in event.payload)))
  return { items: await whole(store, pid, found.reverse(), blobs), before: null }
}

/** All items after a `seq`, in the order of the log. */
export async function itemsAfter(
  store: Store,
  { pid, limit, blobs, after, through }: Asked & { readonly after: number; readonly through: number },
): Promise<{ readonly items: LogItem[]; readonly after: number; readonly more: boolean }> {
  const found: LoggedEvent[] = []
  let at = after
  while (at < through) {
    const page = await store.ask({ ask: 'events', pid, after: at, limit: READ_EVENTS, bytes: PAGE_BYTES })
    if (page.length === 0) break
    for (const event of page) {
      at = event.seq
      const logged = loggedEvent(event)
      if (logged !== null) found.push(logged)
      if (found.length >= limit) break
    }
    if (found.length > 0) break
  }
  return { items: await whole(store, pid, found, blobs), after: at, more: at < through }
}

/** The items of the current branch after a `seq`. A turn without output is left out while it may be rolled back. */
export async function branchAfter(
  store: Store,
  {
    pid,
    limit,
    after,
    through,
    agent,
  }: Omit<Asked, 'blobs'> & {
    readonly after: number
    readonly through: number
    readonly agent: Pick<AgentState, 'branch'>
  },
): Promise<{ readonly items: LogItem[]; readonly after: number; readonly more: boolean }> {
  const found: LoggedEvent[] = []
  let held: HeldTurn = []
  let at = after
  let isFull = false
  while (at < through && !isFull) {
    const page = await store.ask({ ask: 'events', pid, after: at, limit: READ_EVENTS, bytes: PAGE_BYTES })
    if (page.length === 0) break
    for (const event of page) {
      at = event.seq
      const logged = loggedEvent(event)
      if (logged === null || !isOnBranch(agent, turnOf(logged) ?? Number.MAX_SAFE_INTEGER)) continue
      const step = stepForward(held, logged)
      held = step.held
      found.push(...step.released)
      isFull = found.length >= limit && held.length === 0
      if (isFull) break
    }
    isFull ||= found.length > 0 && held.length === 0
  }
  // The next page repeats the held events, if their turn stays.
  const next = (held[0]?.seq ?? at + 1) - 1
  return { items: await whole(store, pid, found, true), after: next, more: at < through }
}

/** The items with the parts that earlier events have. */
async function whole(
  store: Store,
  pid: Pid,
  events: readonly LoggedEvent[],
  blobs: boolean,
): Promise<LogItem[]> {
  const budget = blobs ? newBlobBudget() : null
  const items: LogItem[] = []
  for (const event of events) {
    const promoted = await Promise.all(promotedBy(event).map((seq) => partsAt(store, pid, seq)))
    items.push(await withBlobs(store, logItem(event, promoted.flat()), budget))
  }
  return items
}

async function partsAt(store: Store, pid: Pid, seq: number): Promise<readonly Part[]> {
  const event = await store.ask({ ask: 'eventAt', pid, seq })
  const { parts = [] } = (event?.payload ?? {}) as { parts?: readonly Part[] }
  return parts
}

async function withBlobs(store: Store, item: LogItem, budget: BlobBudget | null): Promise<LogItem> {
  if (budget === null || !('parts' in item.payload)) return item
  const parts = await partsWithBlobs(store.blobs, item.payload.parts, budget)
  if (parts === item.payload.parts) return item
  return { ...item, payload: { ...item.payload, parts } } as LogItem
}

function sizeOf({ payload }: StoredEvent): number {
  return JSON.stringify(payload).length
}
