import type { DatabaseSync } from 'node:sqlite'
import type { Liens } from '../../../core/lien/lien.ts'

export function lienStatements(db: DatabaseSync) {
  const read = db.prepare('select body from lien where host = ?')
  const put = db.prepare(
    'insert into lien values (?, ?) on conflict (host) do update set body = excluded.body',
  )

  return {
    read(host: string): Liens | null {
      const found = read.get(host)
      return found === undefined ? null : (JSON.parse(String(found['body'])) as Liens)
    },
    put: (liens: Liens) => put.run(liens.host, JSON.stringify(liens)),
  }
}
