import type { InboxNotice } from './follow-calls.ts'
import type { CallOptions, InputOf, OutputOf, ReeveVerbs } from './reeve.ts'

export type FollowInboxInput = Parameters<ReeveVerbs['inbox']>[0]

/** The two verbs that a follower of an inbox needs, embedded or over the wire. */
export interface InboxVerbs {
  notices(input: InputOf<'notices'>, options: CallOptions): Promise<OutputOf<'notices'>>
  takeNotices(input: InputOf<'takeNotices'>, options: CallOptions): Promise<OutputOf<'takeNotices'>>
}

/** How long the daemon delays an answer that would be empty. */
const WAIT_MS = 25_000
const PAGE = 100

/** Existing notices, then new ones. The position is the only state; with `take` there is none. */
export async function* followInbox(
  verbs: InboxVerbs,
  { scope, consumer, after, take, turn }: FollowInboxInput,
  { signal }: CallOptions,
): AsyncGenerator<InboxNotice, void, void> {
  const options = signal === undefined ? {} : { signal }
  const about = { scope, waitMs: WAIT_MS, ...(turn === undefined ? {} : { turn }) }
  const from = { ...about, ...(consumer === undefined ? {} : { consumer }), limit: PAGE }
  let position = after
  try {
    while (signal?.aborted !== true) {
      if (take === undefined) {
        const read = { ...from, ...(position === undefined ? {} : { after: position }) }
        const { notices, next } = await verbs.notices(read, options)
        yield* notices
        position = next
        continue
      }
      // One at a time: a slow consumer must not keep the other notices from other consumers.
      const taken = { ...about, ...take, consumer: consumer ?? 'default', limit: 1 }
      const { notices } = await verbs.takeNotices(taken, options)
      yield* notices
    }
  } catch (error) {
    if (signal?.aborted !== true) throw error
  }
}
