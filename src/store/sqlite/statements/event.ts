import type { DatabaseSync } from 'node:sqlite'
import type { Json } from '../../../core/json/json.ts'
import type { ProcessEvent, StoredEvent } from '../../../core/process/event.ts'
import type { Actor } from '../../../core/process/record.ts'
import type { Changes, Questions } from '../../contract.ts'
import type { UnreadableRows } from '../../unreadable.ts'
import { allRows } from '../rows.ts'

interface Columns extends Omit<StoredEvent, 'payload' | 'replayKey' | 'actor'> {
  readonly actor: string
  readonly replay_key: string | null
  readonly payload: string
}

const SELECT = `select event.position, process.pid, event.seq, event.type, event.at, event.actor, event.replay_key, event.payload
  from event join process on process.id = event.process`

export function eventStatements(db: DatabaseSync, unreadable: UnreadableRows) {
  const insert = db.prepare(
    'insert into event (position, process, seq, type, at, actor, replay_key, payload) values (?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const byKey = db.prepare(`${SELECT} where process.pid = ? and event.replay_key = ?`)
  const bySeq = db.prepare(`${SELECT} where process.pid = ? and event.seq = ?`)
  const after = db.prepare(`${SELECT} where process.pid = ? and event.seq > ? order by event.seq limit ?`)
  const tail = db.prepare(`${SELECT} where process.pid = ? order by event.seq desc limit ?`)
  // The table is in the order of the feed; a join that begins at `process` would need a sort.
  const changes = db.prepare(
    `${SELECT.replace(' join ', ' cross join ')} where event.position > ? order by event.position limit ?`,
  )

  return {
    insert(position: number, process: number, event: ProcessEvent): void {
      insert.run(
        position,
        process,
        event.seq,
        event.type,
        event.at,
        event.actor,
        event.replayKey,
        JSON.stringify(event.payload),
      )
    },
    byKey: ({ pid, replayKey }: Questions['event'][0]): StoredEvent | null => one(byKey.get(pid, replayKey)),
    bySeq: ({ pid, seq }: Questions['eventAt'][0]): StoredEvent | null => one(bySeq.get(pid, seq)),
    after: (question: Questions['events'][0]): StoredEvent[] => {
      const { pid, after: seq, limit, bytes } = question
      if (bytes === undefined) return after.all(pid, seq, limit).map(stored)
      const found: StoredEvent[] = []
      let length = 0
      for (const row of after.iterate(pid, seq, limit)) {
        found.push(stored(row))
        length += Buffer.byteLength(String(row['payload']))
        if (length >= bytes) break
      }
      return found
    },
    tail: ({ pid, limit }: Questions['tail'][0]): StoredEvent[] => tail.all(pid, limit).map(stored).reverse(),
    /** Skips events that cannot be read. */
    changes(
      { after, limit }: Questions['changes'][0],
      { position, prunedThrough }: Omit<Changes, 'events'>,
    ): Changes {
      const events: StoredEvent[] = []
      for (let cursor = after; ; ) {
        const wanted = limit - events.length
        const found = allRows<Columns>(changes, cursor, wanted)
        for (const row of found) {
          const event = unreadable.readOrSkip(row.pid, () => stored(row), row.position)
          if (event !== undefined) events.push(event)
          cursor = row.position
        }
        if (found.length < wanted || events.length === limit) return { events, position, prunedThrough }
      }
    },
  }
}

function one(found: object | undefined): StoredEvent | null {
  return found === undefined ? null : stored(found)
}

function stored(found: object): StoredEvent {
  const { position, pid, seq, type, at, actor, replay_key, payload } = found as Columns
  return {
    position,
    pid,
    seq,
    type,
    at,
    actor: actor as Actor,
    replayKey: replay_key,
    payload: JSON.parse(payload) as Json,
  }
}
