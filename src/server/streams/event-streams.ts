import { RefusedError } from '../../core/errors.ts'
import type { InputOf, OutputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import { toWire } from '../../verbs/request.ts'
import type { Page, Stream } from './stream.ts'

const MAX_EVENTS = { page: 1_000, piece: 100 } as const

type Filter = NonNullable<InputOf<'changes'>['filter']>

/** The events of one process. The offset is the seq of the last one that was seen; its end is the last there is. */
export function eventStream(acting: ReeveVerbs, position: () => number, pid: string, reveal = false): Stream {
  return {
    contentType: 'application/json',
    async tail() {
      const { revision, outcome } = await acting.show({ pid })
      return { at: revision, closed: outcome !== null }
    },
    async read(from, most) {
      const heardUpTo = position()
      // Before its events are read: the last of those it had is then among them.
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

/** The events of all processes that the caller may see and the filter wants. The offset is a position; it has no end. */
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
      // Nothing at all lies between: whoever goes on from here need not look there again.
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
 * Whoever begins at the beginning takes what is kept, and knows that the rest is gone. An offset cannot say that of them, so
 * the first page reaches as far as the gone goes: from there on no one is told that something is missing.
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
    // Pruned while nobody looked: the next read says so, if it matters there.
    if (!(error instanceof RefusedError && error.code === 'behind_pruned')) throw error
  }
}

function pageOf(events: readonly unknown[], page: Omit<Page, 'body' | 'isEmpty'>): Page {
  return { body: toWire(events), isEmpty: events.length === 0, ...page }
}
