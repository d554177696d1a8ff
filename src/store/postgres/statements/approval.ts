import type { Approval } from '../../../core/approval/approval.ts'
import type { Page, Questions } from '../../contract.ts'
import type { Link } from '../link.ts'
import { bodies, versionedBodies } from './bodies.ts'
import { Values } from './conditions.ts'

const DUE_COLUMNS = { expiresAt: 'expires_at', pushAt: 'push_at', reviewUntil: 'review_until' } as const

export function approvalStatements(link: Link, at: string) {
  return {
    read: (ids: readonly string[]) =>
      versionedBodies<Approval>(link, `select version, body from ${at}approval where id = any ($1)`, [ids]),
    async list(question: Questions['approvals'][0]): Promise<Page<Approval>> {
      const { state, person, pid, newestFirst = false, after, limit } = question
      const values = new Values()
      const where = [
        newestFirst
          ? `place < ${values.add(after ?? Number.MAX_SAFE_INTEGER)}`
          : `place > ${values.add(after ?? 0)}`,
        ...(state === undefined ? [] : [`state = ${values.add(state)}`]),
        ...(pid === undefined ? [] : [`pid = ${values.add(pid)}`]),
        ...(person === undefined ? [] : [`(person = ${values.add(person)} or person is null)`]),
      ].join(' and ')
      const found = await link.query<{ place: number; body: string }>(
        `select place, body from ${at}approval where ${where} order by place ${newestFirst ? 'desc' : 'asc'} limit ${values.add(limit)}`,
        values.all,
      )
      return {
        items: found.map(({ body }) => JSON.parse(body) as Approval),
        next: found.length < limit ? null : (found.at(-1)?.place ?? null),
      }
    },
    async queue({ person, limit }: Questions['approvalQueue'][0]) {
      const asked = "state = 'pending' and ($1::text is null or person = $1 or person is null)"
      const approvals = await bodies<Approval>(
        link,
        `select body from ${at}approval where ${asked} order by priority desc, place limit $2`,
        [person ?? null, limit],
      )
      const [counted] = await link.query<{ pending: number }>(
        `select count(*)::int as pending from ${at}approval where ${asked}`,
        [person ?? null],
      )
      return { approvals, pending: counted?.pending ?? 0 }
    },
    due({ by = 'expiresAt', at: now, limit }: Questions['approvalsDue'][0]): Promise<Approval[]> {
      const column = DUE_COLUMNS[by]
      return bodies<Approval>(
        link,
        `select body from ${at}approval where state = 'pending' and ${column} <= $1 order by ${column}, place limit $2`,
        [now, limit],
      )
    },
    async nextDue({ by = 'expiresAt' }: Questions['nextApprovalDue'][0]): Promise<number | null> {
      const column = DUE_COLUMNS[by]
      const [found] = await link.query<{ due: number | null }>(
        `select min(${column}) as due from ${at}approval where state = 'pending' and ${column} is not null`,
      )
      return found?.due ?? null
    },
  }
}
