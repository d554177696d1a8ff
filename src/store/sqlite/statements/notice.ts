import type { DatabaseSync } from 'node:sqlite'
import type { Notice } from '../../../core/inbox/notice.ts'
import type { Json } from '../../../core/json/json.ts'
import type { Scope } from '../../../core/process/record.ts'
import type { Questions, StoredNotice } from '../../contract.ts'

export function noticeStatements(db: DatabaseSync) {
  const insert = db.prepare(
    'insert into notice (scope, process, pid, seq, kind, at, payload, reply_to) values (?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const after = db.prepare(
    'select place, scope, pid, seq, kind, at, payload, reply_to from notice where scope = ? and place > ? order by place limit ?',
  )
  const drop = db.prepare('delete from notice where scope = ?')

  return {
    insert: (process: number, { scope, pid, seq, kind, at, payload, replyTo }: Notice) =>
      insert.run(scope, process, pid, seq, kind, at, JSON.stringify(payload), JSON.stringify(replyTo)),
    after: (question: Questions['notices'][0]): StoredNotice[] =>
      after.all(question.scope, question.after, question.limit).map((found) => ({
        place: Number(found['place']),
        scope: String(found['scope']) as Scope,
        pid: String(found['pid']),
        seq: Number(found['seq']),
        kind: String(found['kind']) as Notice['kind'],
        at: Number(found['at']),
        payload: JSON.parse(String(found['payload'])) as Json,
        replyTo: JSON.parse(String(found['reply_to'])) as Json,
      })),
    drop: (scope: string) => drop.run(scope),
  }
}
