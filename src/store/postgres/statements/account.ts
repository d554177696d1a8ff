import type { Account } from '../../../core/allowance/account.ts'
import type { Questions } from '../../contract.ts'
import type { Link } from '../link.ts'

export function accountStatements(link: Link, at: string) {
  return {
    read: async (ids: readonly string[]) =>
      (
        await link.query<{ version: number; body: string }>(
          `select version, body from ${at}account where id = any ($1)`,
          [ids],
        )
      ).map(({ version, body }) => ({ version, value: JSON.parse(body) as Account })),
    async list({ root, session, after, limit }: Questions['accounts'][0]): Promise<Account[]> {
      const column = root !== undefined ? 'root' : session !== undefined ? 'session' : null
      const found = await link.query<{ body: string }>(
        `select body from ${at}account where open and id > $1
          ${column === null ? '' : `and ${column} = $3`} order by id limit $2`,
        [after ?? '', limit, ...(column === null ? [] : [root ?? session ?? ''])],
      )
      return found.map(({ body }) => JSON.parse(body) as Account)
    },
  }
}
