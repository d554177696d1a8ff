import { RefusedError } from '../../core/errors.ts'
import type { InputOf, OutputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import { toWire } from '../../verbs/request.ts'
import type { Page, Stream } from './stream.ts'

const MAX_EVENTS = { page: 1_000, piece: 100 } as const

type Filter = NonNullable<InputOf<'changes'>['filter']>

/** The events of one process. The offset is the seq of the last event that was read. The stream closes with the process's end. */
export function eventStream(acting: ReeveVerbs, position: () => number, pid: string, reveal = false): Stream {
  return {
    contentType: 'application/json',
    async tail() {
      const { revision, outcome } = await acting.show({ pid })
      return { at: revision, closed: outcome !== null }
    },
    async read(from, most) {
      const heardUpTo = position()
      // Before its events are read, so that an outcome implies that all its events are there.
      const { outcome, pid: of } = await acting.show({ pid })
      const limit = MAX_EVENTS[most]
      const { events, count } = await acting.events({ pid, after: from, limit, reveal })
      const next = events.at(-1)?.seq ?? from
      const upToDate = next >= count
      return pageOf(events, { of, next, upToDate, closed: upToDate && outcome !== null, heardUpTo })
    },
    async wait({ heardUpTo }, signal) {
      const { pid: whole } = await acting.show({ pid })
      await heard(acting, heardUpTo, { pid: [whole] }, signal)
    },
  }
}

/** The events of all processes that the caller may see and the filter selects. The offset is a position. It never closes. */
export function changeStream(
  acting: ReeveVerbs,
  position: () => number,
  filter: Filter | undefined,
  reveal = false,
): Stream {
  const wanted = { reveal, ...(filter === undefined ? {} : { filter }) }
  return {
    contentType: 'application/json',
    tail: async () => ({ at: position(), closed: false }),
    async read(from, most) {
      const heardUpTo = position()
      const limit = MAX_EVENTS[most]
      const page = await acting.changes({ after: from, limit, ...wanted })
      if (from === 0) await passPruned(acting, page, wanted)
      // There is nothing in between, so the reader need not scan it again.
      const next = page.position === from ? Math.max(from, heardUpTo) : page.position
      return pageOf(page.events, {
        of: 'changes',
        next,
        upToDate: next >= heardUpTo,
        closed: false,
        heardUpTo,
      })
    },
    wait: ({ heardUpTo }, signal) => heard(acting, heardUpTo, filter, signal),
  }
}

/**
 * A reader that begins at the beginning accepts that older events are pruned. An offset cannot say that, so the first page
 * reaches up to the last pruned position: from there on, the reader is not told that events are missing.
 */
async function passPruned(
  acting: ReeveVerbs,
  page: OutputOf<'changes'>,
  wanted: { readonly filter?: Filter; readonly reveal: boolean },
): Promise<void> {
  const { prunedThrough } = page
  while (page.position < prunedThrough) {
    const after = page.position
    const more = await acting.changes({ after, prunedThrough, limit: MAX_EVENTS.page, ...wanted })
    page.events.push(...more.events)
    page.position = more.position === after ? prunedThrough : more.position
  }
}

async function heard(
  acting: ReeveVerbs,
  after: number,
  filter: Filter | undefined,
  signal: AbortSignal,
): Promise<void> {
  try {
    for await (const _ of acting.follow({ after, ...(filter === undefined ? {} : { filter }) }, { signal }))
      return
  } catch (error) {
    // Events were pruned meanwhile: the next read reports that, if it matters.
    if (!(error instanceof RefusedError && error.code === 'behind_pruned')) throw error
  }
}

function pageOf(events: readonly unknown[], page: Omit<Page, 'body' | 'isEmpty'>): Page {
  return { body: toWire(events), isEmpty: events.length === 0, ...page }
}
