import type { DatabaseSync } from 'node:sqlite'
import type { Account } from '../../../core/allowance/account.ts'
import type { Questions } from '../../contract.ts'

export function accountStatements(db: DatabaseSync) {
  const read = db.prepare('select body from account where id = ?')
  const put = db.prepare(
    'insert into account values (?, ?, ?, ?, ?) on conflict (id) do update set open = excluded.open, body = excluded.body',
  )
  const drop = db.prepare('delete from account where id = ?')
  const ofTree = db.prepare(
    'select body from account where open = 1 and root = ? and id > ? order by id limit ?',
  )
  const ofSession = db.prepare(
    'select body from account where open = 1 and session = ? and id > ? order by id limit ?',
  )
  const all = db.prepare('select body from account where open = 1 and id > ? order by id limit ?')

  return {
    read(id: string): Account | null {
      const found = read.get(id)
      return found === undefined ? null : accountFrom(found)
    },
    list({ root, session, after, limit }: Questions['accounts'][0]): Account[] {
      const found =
        root !== undefined
          ? ofTree.all(root, after ?? '', limit)
          : session !== undefined
            ? ofSession.all(session, after ?? '', limit)
            : all.all(after ?? '', limit)
      return found.map(accountFrom)
    },
    put(account: Account): void {
      const { id, root, session, settled } = account
      put.run(id, root, session, Number(!settled), JSON.stringify(account))
    },
    drop(id: string): void {
      drop.run(id)
    },
  }
}

function accountFrom(found: Record<string, unknown>): Account {
  return JSON.parse(String(found['body'])) as Account
}
