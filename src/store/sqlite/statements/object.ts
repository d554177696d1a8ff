import type { DatabaseSync } from 'node:sqlite'
import type { ObjectRow } from '../../../core/object/entry.ts'
import type { Revocation } from '../../../core/object/object.ts'
import type { StoredEvent } from '../../../core/process/event.ts'
import type { Questions } from '../../contract.ts'
import { allRows, getRow } from '../rows.ts'
import { type StoredEventColumns, storedPayload, unpackEvent } from '../stored-texts.ts'

const SELECT = `select event.position, process.pid, event.seq, event.type, event.at, event.actor, event.replay_key,
    ${storedPayload('event')} as payload
  from process join object on object.process = process.id
    join event on event.process = object.process and event.seq = object.seq
  where process.pid = ?1`

export function objectStatements(db: DatabaseSync) {
  const insert = db.prepare('insert into object (process, name, seq, target) values (?, ?, ?, ?)')
  const newest = db.prepare(
    `${SELECT} and object.name = ?2 and object.seq <= ?3 order by object.seq desc limit ?4`,
  )
  const names =
    db.prepare(`${SELECT} and object.name >= ?2 and object.name > ?3 and substr(object.name, 1, length(?2)) = ?2
    and object.seq <= ?4 and not exists (select 1 from object later where later.process = object.process
      and later.name = object.name and later.seq > object.seq and later.seq <= ?4)
    order by object.name limit ?5`)
  const revocation = db.prepare('select body from revocation where handle = ?')
  const revoke = db.prepare(
    'insert into revocation values (?, ?, ?) on conflict (handle) do update set body = excluded.body',
  )
  const dropRevocations = db.prepare('delete from revocation where root in (select value from json_each(?))')

  return {
    insert(process: number, rows: readonly ObjectRow[]): void {
      for (const { name, seq, target } of rows) insert.run(process, name, seq, target)
    },
    newest({ pid, name, through }: Questions['objectEvent'][0]): StoredEvent | null {
      const found = getRow<StoredEventColumns>(newest, pid, name, through, 1)
      return found === undefined ? null : unpackEvent(found)
    },
    versions: ({ pid, name, through, limit }: Questions['objectVersions'][0]): StoredEvent[] =>
      allRows<StoredEventColumns>(newest, pid, name, through, limit).map(unpackEvent),
    names: ({ pid, prefix, after, through, limit }: Questions['objectEvents'][0]): StoredEvent[] =>
      allRows<StoredEventColumns>(names, pid, prefix, after ?? '', through, limit).map(unpackEvent),
    revocation(handle: string): Revocation | null {
      const found = revocation.get(handle)
      return found === undefined ? null : (JSON.parse(String(found['body'])) as Revocation)
    },
    revoke: (revoked: Revocation) => revoke.run(revoked.handle, revoked.root, JSON.stringify(revoked)),
    dropRevocations: (roots: readonly string[]) => dropRevocations.run(JSON.stringify(roots)),
  }
}
