import { ReeveError, RefusedError } from '../core/errors.ts'
import { isReserved, type StoredEvent } from '../core/process/event.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRow } from '../core/process/row.ts'
import { refusal } from '../core/refusal.ts'
import type { Edges } from './edges.ts'
import type { Work } from './executor.ts'
import type { Feed } from './feed.ts'

export interface WaitOptions {
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /** The attempt that waits: others may have its slot meanwhile. */
  readonly waiter?: Pick<Work, 'lendSlot'>
}

export type Waited<Value> =
  | { readonly type: 'done'; readonly value: Value }
  /** Not an error: nothing has changed, and the caller may wait again. */
  | { readonly type: 'timed_out' }
  /** The caller's signal was aborted; the process lives on. */
  | { readonly type: 'interrupted' }

/** Waits until the process has ended. Subscribes before it reads, so that an end in between is not missed. */
export async function waitForEnd(
  edges: Edges,
  feed: Feed,
  pid: Pid,
  options: WaitOptions,
): Promise<Waited<ProcessRow>> {
  return heardOrRead(edges, feed, pid, options, async (events) => {
    if (events !== null && !events.some(mayEnd)) return undefined
    const row = await edges.store.ask({ ask: 'process', pid })
    if (row === null) throw new RefusedError(gone(pid))
    return row.record.outcome === null ? undefined : row
  })
}

const PAGE = 500
/** Events may be large: a page of them must fit in memory. */
const PAGE_BYTES = 8 * 1024 * 1024

/** Waits for an event behind `after` that fits; an earlier one counts, too. The end of the process ends the wait with null. */
export async function waitForEvent(
  edges: Edges,
  feed: Feed,
  pid: Pid,
  after: number,
  fits: (event: StoredEvent) => boolean,
  options: WaitOptions,
): Promise<Waited<StoredEvent | null>> {
  let seen = after
  return heardOrRead(edges, feed, pid, options, async (heard) => {
    const next = heard?.filter(({ seq }) => seq > seen) ?? []
    if (isUnbroken(next, seen)) {
      const found = next.find(fits)
      if (found !== undefined) return found
      seen += next.length
      if (!next.some(mayEnd)) return undefined
    }
    const row = await edges.store.ask({ ask: 'process', pid })
    if (row === null) throw new RefusedError(gone(pid))
    for (;;) {
      const events = await edges.store.ask({
        ask: 'events',
        pid,
        after: seen,
        limit: PAGE,
        bytes: PAGE_BYTES,
      })
      const found = events.find(fits)
      if (found !== undefined) return found
      seen = events.at(-1)?.seq ?? seen
      // Later events come from the feed.
      if (seen >= row.record.revision) break
      // The process was pruned between the two reads: whether an event fitted is not known any more.
      if (events.length === 0) throw new RefusedError(gone(pid))
    }
    return row.record.outcome === null ? undefined : null
  })
}

/** Whether these events follow the last one that was seen without a gap: then the log need not be read. */
function isUnbroken(events: readonly StoredEvent[], seen: number): boolean {
  return events.length > 0 && events.every(({ seq }, index) => seq === seen + 1 + index)
}

/** Calls `look` first with null, then with each batch of events; with null again if some may have been missed. */
async function heardOrRead<Value>(
  edges: Edges,
  feed: Feed,
  pid: Pid,
  { timeoutMs, signal, waiter }: WaitOptions,
  look: (events: readonly StoredEvent[] | null) => Promise<Value | undefined>,
): Promise<Waited<Value>> {
  if (signal?.aborted) return { type: 'interrupted' }
  let heard: StoredEvent[] = []
  let missed = false
  let wake = () => {}
  let over: Waited<never> | undefined
  const offStop = feed.onStop(() => wake())
  const finish = (how: Waited<never>) => {
    over = how
    wake()
  }
  const interrupt = () => finish({ type: 'interrupted' })
  const unsubscribe = feed.on(pid, (events) => {
    if (events === null) missed = true
    else heard.push(...events)
    wake()
  })
  const cancelTimer =
    timeoutMs === undefined ? undefined : edges.clock.after(timeoutMs, () => finish({ type: 'timed_out' }))
  signal?.addEventListener('abort', interrupt)
  try {
    let value = await look(null)
    while (value === undefined) {
      if (over !== undefined) return over
      if (feed.stopped) throw kernelClosed()
      if (heard.length === 0 && !missed) {
        const takeSlotBack = waiter?.lendSlot()
        await new Promise<void>((resolve) => {
          wake = resolve
        })
        takeSlotBack?.()
        continue
      }
      const events = missed ? null : heard
      heard = []
      missed = false
      value = await look(events)
    }
    return { type: 'done', value }
  } finally {
    unsubscribe()
    offStop()
    cancelTimer?.()
    signal?.removeEventListener('abort', interrupt)
  }
}

export function kernelClosed(): ReeveError {
  return new ReeveError(
    'closed',
    'This kernel has been closed.',
    'Start another one: the processes are in the store.',
  )
}

function mayEnd(event: StoredEvent): boolean {
  return event.type === 'ended' || !isReserved(event.type)
}

function gone(pid: Pid) {
  return refusal(
    'unknown_pid',
    `There is no process ${pid} (any more).`,
    'List the processes to see which there are.',
  )
}
