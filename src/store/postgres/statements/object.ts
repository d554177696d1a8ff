import type { Revocation } from '../../../core/object/object.ts'
import type { StoredEvent } from '../../../core/process/event.ts'
import { type EventColumns, storedEvent } from '../../columns.ts'
import type { Questions } from '../../contract.ts'
import type { Link, Value } from '../link.ts'
import { type Versioned, versionedBodies } from './bodies.ts'

export function objectStatements(link: Link, at: string) {
  const found = `select e.position, e.pid, e.seq, e.type, e.at, e.actor, e.replay_key, e.payload
    from ${at}object o join ${at}event e on e.pid = o.pid and e.seq = o.seq where o.pid = $1`
  const versions = `${found} and o.name = $2 and o.seq <= $3 order by o.seq desc limit $4`
  const names = `${found} and o.name >= $2 and o.name > $3 and starts_with(o.name, $2) and o.seq <= $4
    and not exists (select from ${at}object later
      where later.pid = o.pid and later.name = o.name and later.seq > o.seq and later.seq <= $4)
    order by o.name limit $5`
  const events = async (text: string, values: readonly Value[]) =>
    (await link.query<EventColumns>(text, values)).map(storedEvent)

  return {
    newest: async ({ pid, name, through }: Questions['objectEvent'][0]): Promise<StoredEvent | null> =>
      (await events(versions, [pid, name, through, 1]))[0] ?? null,
    versions: ({ pid, name, through, limit }: Questions['objectVersions'][0]): Promise<StoredEvent[]> =>
      events(versions, [pid, name, through, limit]),
    names: ({ pid, prefix, after, through, limit }: Questions['objectEvents'][0]): Promise<StoredEvent[]> =>
      events(names, [pid, prefix, after ?? '', through, limit]),
    revocations: (handles: readonly string[]): Promise<Versioned<Revocation>[]> =>
      versionedBodies<Revocation>(link, `select version, body from ${at}revocation where handle = any ($1)`, [
        handles,
      ]),
  }
}
