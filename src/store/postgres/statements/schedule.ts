import type { Schedule } from '../../../core/schedule/schedule.ts'
import type { Questions } from '../../contract.ts'
import type { Link } from '../link.ts'
import { bodies, versionedBodies } from './bodies.ts'

export function scheduleStatements(link: Link, at: string) {
  return {
    read: (ids: readonly string[]) =>
      versionedBodies<Schedule>(link, `select version, body from ${at}schedule where id = any ($1)`, [ids]),
    list: ({ open, after, limit }: Questions['schedules'][0]): Promise<Schedule[]> =>
      bodies<Schedule>(
        link,
        `select body from ${at}schedule where id > $1 ${open === true ? 'and open' : ''} order by id limit $2`,
        [after ?? '', limit],
      ),
  }
}
