import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { ProcessEvent, StoredEvent } from '../../../core/process/event.ts'
import { storedEvent } from '../../columns.ts'
import type { Changes, Questions } from '../../contract.ts'
import type { UnreadableRows } from '../../unreadable.ts'
import { packText, unpackText } from '../packed-text.ts'
import { allRows, eachRow, getRow } from '../rows.ts'
import { type StoredEventColumns, storedPayload, unpackEvent } from '../stored-texts.ts'

const SELECT = `select event.position, process.pid, event.seq, event.type, event.at, event.actor, event.replay_key,
    ${storedPayload('event')} as payload
  from event join process on process.id = event.process`

export function eventStatements(db: DatabaseSync, unreadable: UnreadableRows) {
  const insert = db.prepare(
    'insert into event (position, process, seq, type, at, actor, replay_key, payload, packed) values (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const byKey = db.prepare(`${SELECT} where process.pid = ? and event.replay_key = ?`)
  const bySeq = db.prepare(`${SELECT} where process.pid = ? and event.seq = ?`)
  const after = db.prepare(`${SELECT} where process.pid = ? and event.seq > ? order by event.seq limit ?`)
  const tail = db.prepare(`${SELECT} where process.pid = ? and event.seq < ? order by event.seq desc limit ?`)
  // The table is in the order of the feed; a join that begins at `process` would need a sort.
  const changes = db.prepare(
    `${SELECT.replace(' join ', ' cross join ')} where event.position > ? order by event.position limit ?`,
  )

  return {
    insert(position: number, process: number, event: ProcessEvent): void {
      const payload = JSON.stringify(event.payload)
      const packed = packText(payload)
      insert.run(
        position,
        process,
        event.seq,
        event.type,
        event.at,
        event.actor,
        event.replayKey,
        packed === null ? payload : '',
        packed,
      )
    },
    byKey: ({ pid, replayKey }: Questions['event'][0]): StoredEvent | null => one(byKey, pid, replayKey),
    bySeq: ({ pid, seq }: Questions['eventAt'][0]): StoredEvent | null => one(bySeq, pid, seq),
    after: (question: Questions['events'][0]): StoredEvent[] => {
      const { pid, after: seq, limit, bytes } = question
      return page(after, bytes, pid, seq, limit)
    },
    tail: ({ pid, before = Number.MAX_SAFE_INTEGER, limit, bytes }: Questions['tail'][0]): StoredEvent[] =>
      page(tail, bytes, pid, before, limit).reverse(),
    /** Skips events that cannot be read. */
    changes(
      { after, limit }: Questions['changes'][0],
      { position, prunedThrough }: Omit<Changes, 'events'>,
    ): Changes {
      const events: StoredEvent[] = []
      for (let cursor = after; ; ) {
        const wanted = limit - events.length
        const found = allRows<StoredEventColumns>(changes, cursor, wanted)
        for (const row of found) {
          const event = unreadable.readOrSkip(row.pid, () => unpackEvent(row), row.position)
          if (event !== undefined) events.push(event)
          cursor = row.position
        }
        if (found.length < wanted || events.length === limit) return { events, position, prunedThrough }
      }
    },
  }
}

/** Up to the event that brings the payloads to `bytes`. */
function page(
  statement: StatementSync,
  bytes: number | undefined,
  ...values: readonly SQLInputValue[]
): StoredEvent[] {
  if (bytes === undefined) return allRows<StoredEventColumns>(statement, ...values).map(unpackEvent)
  const found: StoredEvent[] = []
  let length = 0
  for (const row of eachRow<StoredEventColumns>(statement, ...values)) {
    const payload = unpackText(row.payload)
    found.push(storedEvent({ ...row, payload }))
    length += Buffer.byteLength(payload)
    if (length >= bytes) break
  }
  return found
}

function one(statement: StatementSync, ...values: readonly SQLInputValue[]): StoredEvent | null {
  const found = getRow<StoredEventColumns>(statement, ...values)
  return found === undefined ? null : unpackEvent(found)
}
