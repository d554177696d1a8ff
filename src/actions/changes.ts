import { visibilityOf } from '../core/authority/visibility.ts'
import { RefusedError } from '../core/errors.ts'
import { type StoredEvent, type TypedEvent, typedEvent } from '../core/process/event.ts'
import type { Filter } from '../core/process/filter.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor } from '../core/process/record.ts'
import { behindPruned } from '../kernel/feed.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { CallOptions, OutputOf } from '../verbs/reeve.ts'
import type { AnswerMasker } from './mask-answers.ts'
import { type Reveals, revealRequest } from './reveal.ts'
import { followNamed } from './while-readable.ts'

/** The page size of reads that skip events of other processes. */
const PAGE = 500
/** The most events that one call reads: the caller continues from the position of the answer. */
const MAX_EVENTS_SCANNED = 20_000

interface ChangesQuery {
  readonly after: number
  /** Events up to here are known to be pruned. */
  readonly prunedThrough: number
  readonly filter: Filter | undefined
  readonly limit: number
}

/** A page of the change feed, filled with events that the actor may see and the filter wants. */
export async function readChanges(
  kernel: Kernel,
  actor: Actor,
  { after, prunedThrough: known, filter, limit }: ChangesQuery,
): Promise<OutputOf<'changes'>> {
  const { store } = kernel.edges
  const wantsAll = filter === undefined && actor === 'host'
  const pageSize = wantsAll ? limit : Math.max(limit, PAGE)
  const found: TypedEvent[] = []
  let position = after
  let prunedThrough = known
  for (let scanned = 0; ; ) {
    const page = await store.ask({ ask: 'changes', after: position, limit: pageSize })
    const isBehind = position > 0 && position < page.prunedThrough && prunedThrough < page.prunedThrough
    if (isBehind && scanned === 0) throw new RefusedError(behindPruned(position, page.prunedThrough))
    // Pruned during this read: the caller gets the events found so far, and the next call is refused.
    if (isBehind) return { events: found, position, more: true, prunedThrough }
    prunedThrough = page.prunedThrough
    const wanted = await wantedOf(kernel, actor, page.events, filter)
    const room = limit - found.length
    found.push(...wanted.slice(0, room).map(typedEvent))
    scanned += page.events.length
    const isFull = wanted.length >= room
    const last = isFull ? found.at(-1) : page.events.at(-1)
    position = last?.position ?? position
    const isLast = page.events.length < pageSize
    if (isFull || isLast || scanned >= MAX_EVENTS_SCANNED)
      return { events: found, position, more: position < page.position, prunedThrough }
  }
}

interface FollowParts {
  readonly kernel: Kernel
  readonly masker: AnswerMasker
  readonly reveals: Reveals
}

interface FollowQuery {
  readonly after: number
  readonly filter?: Filter | undefined
  readonly reveal: boolean
}

/** The change feed from a position on: events that the actor may see and the filter wants. */
export async function* followChanges(
  { kernel, masker, reveals }: FollowParts,
  actor: Actor,
  { after, filter, reveal }: FollowQuery,
  options: CallOptions,
): AsyncGenerator<TypedEvent, void, void> {
  const request = revealRequest(actor, 'follow', options)
  if (reveal) await reveals.permit(request)
  const named = await followNamed(kernel, actor, filter?.pid ?? [], options)
  try {
    for await (const event of kernel.follow(after, () => true, named.signal)) {
      const [wanted] = await wantedOf(kernel, actor, [event], filter)
      if (wanted === undefined) continue
      if (reveal) await reveals.noteAll(request, await masker.secretsIn(wanted))
      yield typedEvent(reveal ? wanted : await masker.event(wanted))
    }
    named.throwIfLost()
  } finally {
    named.stop()
  }
}

/** The events of processes that the actor may read and the filter wants. One query of the store covers all events. */
async function wantedOf(
  kernel: Kernel,
  actor: Actor,
  events: readonly StoredEvent[],
  filter: Filter | undefined,
): Promise<StoredEvent[]> {
  if ((filter === undefined && actor === 'host') || events.length === 0) return [...events]
  const pids = wantedPids(events, filter)
  if (pids.length === 0) return []
  const { items } = await kernel.edges.store.ask({
    ask: 'processes',
    filter: { status: 'any', ...filter, pid: pids },
    visibleTo: visibilityOf(actor),
    after: null,
    limit: pids.length,
  })
  const wanted = new Set(items.map(({ record }) => record.pid))
  return events.filter(({ pid }) => wanted.has(pid))
}

function wantedPids(events: readonly StoredEvent[], filter: Filter | undefined): readonly Pid[] {
  const pids = [...new Set(events.map(({ pid }) => pid))]
  const named = filter?.pid
  return named === undefined ? pids : pids.filter((pid) => named.includes(pid))
}
