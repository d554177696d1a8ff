import type { DoneHow } from '../../../core/change.ts'
import type { Inbox } from '../../../core/inbox/inbox.ts'
import type { Notice } from '../../../core/inbox/notice.ts'
import type { Json } from '../../../core/json/json.ts'
import type { Questions, StoredNotice } from '../../contract.ts'
import type { Link, Value } from '../link.ts'
import { bodies, versionedBodies } from './bodies.ts'

interface Columns extends Omit<Notice, 'payload' | 'replyTo'> {
  readonly position: number
  readonly payload: string
  readonly reply_to: string
  readonly done: DoneHow | null
  readonly observed: string | null
}

export function noticeStatements(link: Link, at: string) {
  const select = `select position, scope, pid, seq, kind, at, payload, reply_to, done, observed from ${at}notice`

  return {
    async read(question: Questions['notices'][0]): Promise<StoredNotice[]> {
      const { scope, after, limit, open = false, newest = false, pid, positions } = question
      const { kind, toldSince, unobserved } = question
      const values: Value[] = [scope, after, limit]
      const given = (value: Value) => `$${values.push(value)}`
      const terms = [
        'scope = $1 and position > $2',
        ...(open ? ['done is null'] : []),
        ...(pid === undefined ? [] : [`pid = ${given(pid)}`]),
        ...(positions === undefined ? [] : [`position = any (${given(positions)})`]),
        ...(kind === undefined ? [] : [`kind = ${given(kind)}`]),
        ...(toldSince === undefined ? [] : [`at >= ${given(toldSince)}`]),
        ...(unobserved === undefined
          ? []
          : [`(observed is null or strpos(observed, ${given(JSON.stringify(unobserved))}) = 0)`]),
      ].join(' and ')
      const found = await link.query<Columns>(
        `${select} where ${terms} order by position ${newest ? 'desc' : 'asc'} limit $3`,
        values,
      )
      const notices = found.map(noticeFrom)
      return newest ? notices.reverse() : notices
    },
    async countOpen({ scope, kind, after, limit }: Questions['openNotices'][0]): Promise<number> {
      const [found] = await link.query<{ readonly open: number }>(
        `select count(*)::int as open from (select 1 from ${at}notice where scope = $1 and position > $2 and done is null and kind = $3 limit $4) as found`,
        [scope, after, kind, limit],
      )
      return found?.open ?? 0
    },
    inboxesOf: (scopes: readonly string[]) =>
      versionedBodies<Inbox>(link, `select version, body from ${at}inbox where scope = any ($1)`, [scopes]),
    overflowing: (limit: number) =>
      bodies<Inbox>(link, `select body from ${at}inbox where tripped order by scope limit $1`, [limit]),
  }
}

function noticeFrom({ payload, reply_to, observed, ...told }: Columns): StoredNotice {
  return {
    ...told,
    payload: JSON.parse(payload) as Json,
    replyTo: JSON.parse(reply_to) as Json,
    observed: observed === null ? [] : (JSON.parse(observed) as string[]),
  }
}
