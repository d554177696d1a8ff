import type { Delivery } from '../../../core/trigger/delivery.ts'
import type { Trigger } from '../../../core/trigger/trigger.ts'
import type { Questions } from '../../contract.ts'
import type { Link } from '../link.ts'
import { bodies, versionedBodies } from './bodies.ts'

export function triggerStatements(link: Link, at: string) {
  return {
    read: (ids: readonly string[]) =>
      versionedBodies<Trigger>(
        link,
        `select version, body from ${at}trigger_definition where id = any ($1)`,
        [ids],
      ),
    list: ({ after, limit }: Questions['triggers'][0]): Promise<Trigger[]> =>
      bodies<Trigger>(link, `select body from ${at}trigger_definition where id > $1 order by id limit $2`, [
        after ?? '',
        limit,
      ]),
    readDeliveries: (pids: readonly string[]) =>
      versionedBodies<Delivery>(link, `select version, body from ${at}delivery where pid = any ($1)`, [pids]),
    listDeliveries: ({ trigger, before, limit }: Questions['deliveries'][0]): Promise<Delivery[]> =>
      bodies<Delivery>(
        link,
        `select body from ${at}delivery where trigger_id = $1 and number < $2 order by number desc limit $3`,
        [trigger, before ?? Number.MAX_SAFE_INTEGER, limit],
      ),
  }
}
