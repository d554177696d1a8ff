import type { Account } from '../../../core/allowance/account.ts'
import type { Questions } from '../../contract.ts'
import type { Link } from '../link.ts'
import { bodies, versionedBodies } from './bodies.ts'

export function accountStatements(link: Link, at: string) {
  return {
    read: (ids: readonly string[]) =>
      versionedBodies<Account>(link, `select version, body from ${at}account where id = any ($1)`, [ids]),
    list({ root, session, after, limit }: Questions['accounts'][0]): Promise<Account[]> {
      const column = root !== undefined ? 'root' : session !== undefined ? 'session' : null
      return bodies<Account>(
        link,
        `select body from ${at}account where open and id > $1
          ${column === null ? '' : `and ${column} = $3`} order by id limit $2`,
        [after ?? '', limit, ...(column === null ? [] : [root ?? session ?? ''])],
      )
    },
  }
}
