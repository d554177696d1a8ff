import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { DoneHow } from '../../../core/change.ts'
import type { Inbox } from '../../../core/inbox/inbox.ts'
import type { Notice } from '../../../core/inbox/notice.ts'
import type { Json } from '../../../core/json/json.ts'
import type { Scope } from '../../../core/process/record.ts'
import type { Questions, StoredNotice } from '../../contract.ts'

const COLUMNS = 'position, scope, pid, seq, kind, at, payload, reply_to, done, observed'

export function noticeStatements(db: DatabaseSync) {
  const insert = db.prepare(
    'insert into notice (scope, process, pid, seq, kind, at, payload, reply_to) values (?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const selects = new Map<string, StatementSync>()
  /** One prepared statement for each combination of options. */
  const select = (question: Questions['notices'][0]): StatementSync => {
    const { open = false, newest = false, pid, positions, kind, toldSince, unobserved } = question
    const given = [pid, positions, kind, toldSince, unobserved].map((value) => value !== undefined)
    const key = [open, newest, ...given].join(' ')
    const known = selects.get(key)
    if (known !== undefined) return known
    // For one process, `+` keeps SQLite from scanning all notices of the scope in the order of their positions.
    const position = pid === undefined ? 'position' : '+position'
    const where = [
      `scope = ? and ${position} > ?`,
      ...(open ? ['done is null'] : []),
      ...(pid === undefined ? [] : ['process = (select id from process where pid = ?)']),
      ...(positions === undefined ? [] : ['position in (select value from json_each(?))']),
      ...(kind === undefined ? [] : ['kind = ?']),
      ...(toldSince === undefined ? [] : ['at >= ?']),
      ...(unobserved === undefined ? [] : ['(observed is null or instr(observed, ?) = 0)']),
    ].join(' and ')
    const order = `order by ${position}${newest ? ' desc' : ''}`
    const made = db.prepare(`select ${COLUMNS} from notice where ${where} ${order} limit ?`)
    selects.set(key, made)
    return made
  }
  const countOpen = db.prepare(
    'select count(*) as open from (select 1 from notice where scope = ? and position > ? and done is null and kind = ? limit ?)',
  )
  const drop = db.prepare('delete from notice where scope = ?')
  const done = db.prepare('update notice set done = ? where position = ? and scope = ? and done is null')
  const observed = db.prepare('update notice set observed = ? where position = ? and scope = ?')
  const inbox = db.prepare('select body from inbox where scope = ?')
  const overflowing = db.prepare('select body from inbox where tripped = 1 order by scope limit ?')
  const putInbox = db.prepare(
    'insert into inbox values (?, ?, ?) on conflict (scope) do update set tripped = excluded.tripped, body = excluded.body',
  )
  const dropInbox = db.prepare('delete from inbox where scope = ?')

  return {
    insert: (process: number, { scope, pid, seq, kind, at, payload, replyTo }: Notice) =>
      insert.run(scope, process, pid, seq, kind, at, JSON.stringify(payload), JSON.stringify(replyTo)),
    read(question: Questions['notices'][0]): StoredNotice[] {
      const { scope, after, limit, pid, positions, kind, toldSince, unobserved, newest = false } = question
      const found = select(question)
        .all(
          scope,
          after,
          ...(pid === undefined ? [] : [pid]),
          ...(positions === undefined ? [] : [JSON.stringify(positions)]),
          ...(kind === undefined ? [] : [kind]),
          ...(toldSince === undefined ? [] : [toldSince]),
          ...(unobserved === undefined ? [] : [JSON.stringify(unobserved)]),
          limit,
        )
        .map(noticeFrom)
      return newest ? found.reverse() : found
    },
    countOpen: ({ scope, kind, after, limit }: Questions['openNotices'][0]): number =>
      Number(countOpen.get(scope, after, kind, limit)?.['open']),
    drop(scope: string): void {
      drop.run(scope)
      dropInbox.run(scope)
    },
    done(scope: string, positions: readonly number[], how: DoneHow): void {
      for (const position of positions) done.run(how, position, scope)
    },
    observed: (scope: string, position: number, turns: readonly string[]) =>
      observed.run(JSON.stringify(turns), position, scope),
    inbox: (scope: string): Inbox | null => bodyOf(inbox.get(scope)),
    overflowing: (limit: number): Inbox[] => overflowing.all(limit).flatMap((found) => bodyOf(found) ?? []),
    putInbox: (value: Inbox) =>
      putInbox.run(value.scope, Number(value.overflow.tripped !== null), JSON.stringify(value)),
  }
}

function noticeFrom(found: Record<string, unknown>): StoredNotice {
  return {
    position: Number(found['position']),
    scope: String(found['scope']) as Scope,
    pid: String(found['pid']),
    seq: Number(found['seq']),
    kind: String(found['kind']) as Notice['kind'],
    at: Number(found['at']),
    payload: JSON.parse(String(found['payload'])) as Json,
    replyTo: JSON.parse(String(found['reply_to'])) as Json,
    done: found['done'] as DoneHow | null,
    observed: found['observed'] === null ? [] : (JSON.parse(String(found['observed'])) as string[]),
  }
}

function bodyOf(found: Record<string, unknown> | undefined): Inbox | null {
  return found === undefined ? null : (JSON.parse(String(found['body'])) as Inbox)
}
