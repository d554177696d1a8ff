import type { StoredEvent } from '../../../core/process/event.ts'
import { type EventColumns, storedEvent } from '../../columns.ts'
import type { Changes, Questions } from '../../contract.ts'
import type { UnreadableRows } from '../../unreadable.ts'
import type { Link, Value } from '../link.ts'

interface Head {
  readonly head: number
  readonly pruned_through: number
}

const COLUMNS = 'e.position, e.pid, e.seq, e.type, e.at, e.actor, e.replay_key, e.payload'
export function eventStatements(link: Link, at: string, unreadable: UnreadableRows) {
  const events = async (text: string, values: readonly Value[]) =>
    (await link.query<EventColumns>(`select ${COLUMNS} from ${text}`, values)).map(storedEvent)
  /** Up to the event that brings the payloads to `bytes`. */
  const page = (side: '>' | '<', order: string, values: readonly Value[], bytes: number | undefined) => {
    const found = `${at}event e where e.pid = $1 and e.seq ${side} $2 order by ${order} limit $3`
    if (bytes === undefined) return events(found, values)
    const counted = `select ${COLUMNS}, sum(octet_length(e.payload)) over (order by ${order}) - octet_length(e.payload) as earlier`
    return events(`(${counted} from ${found}) e where e.earlier < $4 order by ${order}`, [...values, bytes])
  }

  return {
    byKeys: (pids: readonly string[], replayKeys: readonly string[]): Promise<StoredEvent[]> =>
      events(
        `unnest($1::text[], $2::text[]) as k (pid, replay_key) join ${at}event e on e.pid = k.pid and e.replay_key = k.replay_key`,
        [pids, replayKeys],
      ),
    bySeq: async ({ pid, seq }: Questions['eventAt'][0]): Promise<StoredEvent | null> =>
      (await events(`${at}event e where e.pid = $1 and e.seq = $2`, [pid, seq]))[0] ?? null,
    after: ({ pid, after, limit, bytes }: Questions['events'][0]): Promise<StoredEvent[]> =>
      page('>', 'e.seq', [pid, after, limit], bytes),
    tail: async ({
      pid,
      before = Number.MAX_SAFE_INTEGER,
      limit,
      bytes,
    }: Questions['tail'][0]): Promise<StoredEvent[]> =>
      (await page('<', 'e.seq desc', [pid, before, limit], bytes)).reverse(),

    /** Skips events that cannot be read. One statement per page, so that the head is not older than the events. */
    async changes({ after, limit }: Questions['changes'][0]): Promise<Changes> {
      const events: StoredEvent[] = []
      for (let cursor = after; ; ) {
        const wanted = limit - events.length
        const found = await link.query<Head & (EventColumns | { position: null })>(
          `select m.position as head, m.pruned_through, ${COLUMNS} from ${at}meta m left join lateral
            (select * from ${at}event where position > $1 order by position limit $2) e on true order by e.position`,
          [cursor, wanted],
        )
        for (const row of found) {
          if (row.position === null) continue
          const event = unreadable.readOrSkip(row.pid, () => storedEvent(row), row.position)
          if (event !== undefined) events.push(event)
          cursor = row.position
        }
        const [first] = found
        if (found.length < wanted || events.length === limit || first?.position == null)
          return { events, position: first?.head ?? 0, prunedThrough: first?.pruned_through ?? 0 }
      }
    },
  }
}
