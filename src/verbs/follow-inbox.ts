import type { CallOptions, InboxNotice, InputOf, OutputOf, ReeveVerbs } from './reeve.ts'

export type FollowInboxInput = Parameters<ReeveVerbs['inbox']>[0]

/** The two verbs that a follower of an inbox needs, wherever they are performed. */
export interface InboxVerbs {
  notices(input: InputOf<'notices'>, options: CallOptions): Promise<OutputOf<'notices'>>
  takeNotices(input: InputOf<'takeNotices'>, options: CallOptions): Promise<OutputOf<'takeNotices'>>
}

/** As long as an answer is held back for. */
const WAIT_MS = 25_000
const PAGE = 100

/** What is there, then what comes. The place is the only state, or none at all where notices are taken. */
export async function* followInbox(
  verbs: InboxVerbs,
  { scope, consumer, after, take, turn }: FollowInboxInput,
  { signal }: CallOptions,
): AsyncGenerator<InboxNotice, void, void> {
  const options = signal === undefined ? {} : { signal }
  const about = { scope, waitMs: WAIT_MS, ...(turn === undefined ? {} : { turn }) }
  const from = { ...about, ...(consumer === undefined ? {} : { consumer }), limit: PAGE }
  let place = after
  try {
    while (signal?.aborted !== true) {
      if (take === undefined) {
        const read = { ...from, ...(place === undefined ? {} : { after: place }) }
        const { notices, next } = await verbs.notices(read, options)
        yield* notices
        place = next
        continue
      }
      // One at a time: whoever deals with it slowly must not keep others from the rest.
      const taken = { ...about, ...take, consumer: consumer ?? 'default', limit: 1 }
      const { notices } = await verbs.takeNotices(taken, options)
      yield* notices
    }
  } catch (error) {
    if (signal?.aborted !== true) throw error
  }
}
