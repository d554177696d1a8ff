import type { Scope } from '../process/record.ts'
import { NO_OVERFLOW, type Overflow } from './flood.ts'

/**
 * What is known of a scope's inbox beside its notices: who has read how far, who has taken what, and whether it is being
 * flooded. Every take, acknowledgement and consumption writes it, so that of two at once one sees what the other did.
 *
 * | a notice is              | read with a cursor | take                      | acknowledge                |
 * | open                     | shown              | given, taken until a time | done, or the cursor moves on |
 * | taken by another, in time | shown              | not given                 | lost: nothing changes        |
 * | taken, and the time is up | shown              | given again               | done                         |
 * | done                     | not shown          | not given                 | done already                 |
 */
export interface Inbox {
  readonly scope: Scope
  readonly consumers: { readonly [name: string]: { readonly through: number; readonly at: number } }
  readonly taken: readonly Taken[]
  readonly overflow: Overflow
}

interface Taken {
  readonly place: number
  readonly by: string
  readonly until: number
}

/** How many notices of one inbox may be out at once; who takes more gets none. */
const MOST_TAKEN = 1_000
/** How many consumers' cursors are kept; the one that was moved longest ago is forgotten. */
const MOST_CONSUMERS = 100

export function emptyInbox(scope: Scope): Inbox {
  return { scope, consumers: {}, taken: [], overflow: NO_OVERFLOW }
}

/** How far a consumer has acknowledged everything. */
export function cursorOf(inbox: Inbox | null, consumer: string): number {
  return Object.hasOwn(inbox?.consumers ?? {}, consumer) ? (inbox?.consumers[consumer]?.through ?? 0) : 0
}

/** Gives out what is open (`places`, in order) and with nobody, to one consumer alone. */
export function take(
  inbox: Inbox,
  places: readonly number[],
  asked: {
    readonly consumer: string
    readonly at: number
    readonly visibilityMs: number
    readonly limit: number
  },
): { readonly inbox: Inbox; readonly given: readonly number[]; readonly until: number } {
  const { consumer, at, visibilityMs, limit } = asked
  const out = inbox.taken.filter(({ until }) => until > at)
  const isOut = new Set(out.map(({ place }) => place))
  const room = Math.min(limit, MOST_TAKEN - out.length)
  const given = places.filter((place) => !isOut.has(place)).slice(0, Math.max(0, room))
  const until = at + visibilityMs
  const taken = [...out, ...given.map((place) => ({ place, by: consumer, until }))]
  return { inbox: { ...inbox, taken }, given, until }
}

/** Which of `places` are this consumer's to acknowledge: all that nobody else has taken and still has time for. */
export function settle(
  inbox: Inbox,
  places: readonly number[],
  consumer: string | null,
  at: number,
): { readonly inbox: Inbox; readonly done: readonly number[]; readonly lost: readonly number[] } {
  const others = new Set(
    inbox.taken
      .filter(({ by, until }) => consumer !== null && by !== consumer && until > at)
      .map(({ place }) => place),
  )
  const done = places.filter((place) => !others.has(place))
  const isDone = new Set(done)
  const taken = inbox.taken.filter(({ place }) => !isDone.has(place))
  return { inbox: { ...inbox, taken }, done, lost: places.filter((place) => others.has(place)) }
}

/** A cursor never goes back. */
export function moveCursor(inbox: Inbox, consumer: string, through: number, at: number): Inbox {
  const moved = { through: Math.max(through, cursorOf(inbox, consumer)), at }
  const consumers = Object.entries({ ...inbox.consumers, [consumer]: moved })
  const kept = consumers.sort(([, a], [, b]) => b.at - a.at).slice(0, MOST_CONSUMERS)
  return { ...inbox, consumers: Object.fromEntries(kept) }
}
