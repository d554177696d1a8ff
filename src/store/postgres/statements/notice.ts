import type { Notice } from '../../../core/inbox/notice.ts'
import type { Json } from '../../../core/json/json.ts'
import type { Questions, StoredNotice } from '../../contract.ts'
import type { Link } from '../link.ts'

interface Columns extends Omit<Notice, 'payload' | 'replyTo'> {
  readonly place: number
  readonly payload: string
  readonly reply_to: string
}

export function noticeStatements(link: Link, at: string) {
  const select = `select place, scope, pid, seq, kind, at, payload, reply_to from ${at}notice`

  return {
    after: async ({ scope, after, limit }: Questions['notices'][0]): Promise<StoredNotice[]> =>
      (
        await link.query<Columns>(`${select} where scope = $1 and place > $2 order by place limit $3`, [
          scope,
          after,
          limit,
        ])
      ).map(({ payload, reply_to, ...told }) => ({
        ...told,
        payload: JSON.parse(payload) as Json,
        replyTo: JSON.parse(reply_to) as Json,
      })),
  }
}
