import type { CallOptions, ReeveVerbs } from '../verbs/reeve.ts'
import { fromWire, toWire } from '../verbs/request.ts'
import { isBroken } from './broken.ts'
import { type Line, textOf } from './call.ts'
import { readPage } from './read-stream.ts'

type FollowInput = NonNullable<Parameters<ReeveVerbs['follow']>[0]>
type StoredEvent = Awaited<ReturnType<ReeveVerbs['changes']>>['events'][number]

/** Every event once, in order. After a broken connection it continues after the last event. */
export async function* follow(
  line: Line,
  { after = 0, filter, reveal = false }: FollowInput,
  { signal }: CallOptions,
): AsyncGenerator<StoredEvent, void, void> {
  const stop = new AbortController()
  const either = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal])
  const query = {
    ...(filter === undefined ? {} : { filter: toWire(filter) }),
    ...(reveal ? { reveal: 'true' } : {}),
  }
  let offset = after
  let live = false
  try {
    while (!either.aborted) {
      const page = await readPage(line, '/changes/stream', { offset, live, query }, either)
      let events: StoredEvent[]
      try {
        const text = await textOf(line.transport, page.answered, either)
        events = text === '' ? [] : (fromWire(text) as StoredEvent[])
      } catch (error) {
        if (isBroken(error)) continue
        throw error
      }
      yield* events
      offset = page.next
      live = page.upToDate
      if (page.closed) return
    }
  } catch (error) {
    if (!either.aborted) throw error
  } finally {
    stop.abort()
  }
}
