import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Approval } from '../../../core/approval/approval.ts'
import type { DueBy, Page, Questions } from '../../contract.ts'
import { allRows } from '../rows.ts'

const DUE_COLUMNS = { expiresAt: 'expires_at', pushAt: 'push_at', reviewUntil: 'review_until' } as const

export function approvalStatements(db: DatabaseSync) {
  const read = db.prepare('select body from approval where id = ?')
  const put =
    db.prepare(`insert into approval (id, pid, state, person, priority, expires_at, push_at, review_until, body)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (id) do update set pid = excluded.pid, state = excluded.state,
      person = excluded.person, priority = excluded.priority, expires_at = excluded.expires_at, push_at = excluded.push_at,
      review_until = excluded.review_until, body = excluded.body`)
  const lists = new Map<string, StatementSync>()
  /** One prepared statement for each combination of filters. */
  const list = ({ state, person, pid, newestFirst }: Questions['approvals'][0]): StatementSync => {
    const where = [
      newestFirst === true ? 'place < ?' : 'place > ?',
      ...(state === undefined ? [] : ['state = ?']),
      ...(pid === undefined ? [] : ['pid = ?']),
      ...(person === undefined ? [] : ['(person = ? or person is null)']),
    ].join(' and ')
    const known = lists.get(where)
    if (known !== undefined) return known
    const order = newestFirst === true ? 'place desc' : 'place'
    const made = db.prepare(`select place, body from approval where ${where} order by ${order} limit ?`)
    lists.set(where, made)
    return made
  }
  const asked = "state = 'pending' and (?1 is null or person = ?1 or person is null)"
  const queue = db.prepare(`select body from approval where ${asked} order by priority desc, place limit ?2`)
  const inQueue = db.prepare(`select count(*) as pending from approval where ${asked}`)
  const due = byDue((column) =>
    db.prepare(
      `select body from approval where state = 'pending' and ${column} <= ? order by ${column}, place limit ?`,
    ),
  )
  const next = byDue((column) =>
    db.prepare(
      `select min(${column}) as due from approval where state = 'pending' and ${column} is not null`,
    ),
  )

  return {
    read(id: string): Approval | null {
      const found = read.get(id)
      return found === undefined ? null : approvalFrom(found)
    },
    list(question: Questions['approvals'][0]): Page<Approval> {
      const { state, person, pid, newestFirst, after, limit } = question
      const from = after ?? (newestFirst === true ? Number.MAX_SAFE_INTEGER : 0)
      const given = [state, pid, person].filter((value) => value !== undefined)
      const found = allRows<{ place: number; body: string }>(list(question), from, ...given, limit)
      return {
        items: found.map(approvalFrom),
        next: found.length < limit ? null : (found.at(-1)?.place ?? null),
      }
    },
    queue({ person, limit }: Questions['approvalQueue'][0]): Questions['approvalQueue'][1] {
      const name = person ?? null
      const approvals = queue.all(name, limit).map(approvalFrom)
      return { approvals, pending: Number(inQueue.get(name)?.['pending'] ?? 0) }
    },
    due: ({ by = 'expiresAt', at, limit }: Questions['approvalsDue'][0]): Approval[] =>
      due[by].all(at, limit).map(approvalFrom),
    nextDue({ by = 'expiresAt' }: Questions['nextApprovalDue'][0]): number | null {
      const found = next[by].get()?.['due'] ?? null
      return found === null ? null : Number(found)
    },
    put(approval: Approval): void {
      const { id, pid, state, person, expiresAt, pushAt, reviewUntil = null, request } = approval
      const due = [expiresAt, pushAt, reviewUntil]
      put.run(id, pid, state, person, request.priority, ...due, JSON.stringify(approval))
    },
  }
}

function byDue(make: (column: (typeof DUE_COLUMNS)[DueBy]) => StatementSync) {
  return {
    expiresAt: make(DUE_COLUMNS.expiresAt),
    pushAt: make(DUE_COLUMNS.pushAt),
    reviewUntil: make(DUE_COLUMNS.reviewUntil),
  }
}

function approvalFrom(found: Readonly<Record<string, unknown>>): Approval {
  return JSON.parse(String(found['body'])) as Approval
}
