import type { AgentFollowed } from './follow-calls.ts'
import { FeedNudges } from './follow-feed.ts'
import { LiveFragments } from './follow-live.ts'
import type { CallOptions, InputOf, OutputOf, ReeveVerbs } from './reeve.ts'
import { WakeUp } from './wake-up.ts'

export type FollowAgentInput = Parameters<ReeveVerbs['followAgent']>[0]

/** The verbs that a follower of an agent needs, embedded or over the wire. */
export interface FollowAgentVerbs extends Pick<ReeveVerbs, 'follow' | 'followOutput'> {
  agentLog(input: InputOf<'agentLog'>, options: CallOptions): Promise<OutputOf<'agentLog'>>
  outputStreams(input: InputOf<'outputStreams'>, options: CallOptions): Promise<OutputOf<'outputStreams'>>
}

/**
 * The log is read by `seq`, so each item comes once and in order, however slow the reader is; the change feed only says when to read
 * again. Fragments come from the live log while their model call is under way. A call that has ended is an item, which has all of it.
 */
export async function* followAgent(
  verbs: FollowAgentVerbs,
  { pid: text, from, offset = 0, last, blobs = false }: FollowAgentInput,
  { signal }: CallOptions,
): AsyncGenerator<AgentFollowed, void, void> {
  const stop = new AbortController()
  const options = { signal: signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]) }
  try {
    const asked = { pid: text, blobs, ...(last === undefined ? {} : { last }) }
    let page = await verbs.agentLog(from === undefined ? asked : { ...asked, after: from }, options)
    const { pid } = page.record
    const wakeUp = new WakeUp()
    const feed = new FeedNudges(verbs, pid, page.position, wakeUp, options)
    const live = new LiveFragments(verbs, pid, offset, wakeUp, options)
    if (from === undefined) yield { type: 'snapshot', page }
    else yield* itemsOf(page)
    while (!options.signal.aborted) {
      while (page.more) {
        page = await verbs.agentLog({ pid, blobs, after: page.after }, options)
        yield* itemsOf(page)
      }
      const { record, phase } = page
      yield { type: 'state', phase, record }
      if (record.outcome !== null) {
        yield { type: 'ended', outcome: record.outcome }
        return
      }
      live.follow(record.agent?.turn ?? null)
      feed.seen(page.after, page.position)
      while (!feed.take()) {
        const shown = live.take()
        if (shown === null) await wakeUp.wait()
        else yield* shown
      }
      page = await verbs.agentLog({ pid, blobs, after: page.after }, options)
      yield* itemsOf(page)
    }
  } catch (error) {
    if (signal?.aborted !== true) throw error
  } finally {
    stop.abort()
  }
}

function itemsOf({ items }: OutputOf<'agentLog'>): AgentFollowed[] {
  return items.map((item) => ({ type: 'item', item }))
}
