import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type {
  AuditAnchor,
  AuditLink,
  AuditStart,
  AuditTail,
  ChainedEntry,
} from '../../../core/audit/chain.ts'
import { auditTextParts } from '../../../core/audit/filter.ts'
import type { AuditWindow } from '../../../core/audit/window.ts'
import { auditPage, linkPage, scannedRange } from '../../audit-page.ts'
import type { Page, Questions } from '../../contract.ts'
import { allRows, getRow } from '../rows.ts'

export type AuditStatements = ReturnType<typeof auditStatements>

/** The chain, and the windows that count repeated denials outside of it. */
export function auditStatements(db: DatabaseSync) {
  const tail = db.prepare(
    'select audit_position as position, audit_hash as hash, audit_start as start from meta',
  )
  const putEnd = db.prepare('update meta set audit_position = ?, audit_hash = ? where id = 1')
  const putStart = db.prepare('update meta set audit_start = ? where id = 1')
  const append = db.prepare('insert into audit (position, at, body, hash) values (?, ?, ?, ?)')
  const prune = db.prepare('delete from audit where position <= ?')
  const pages = new Map<string, StatementSync>()
  /** One prepared statement for each combination of options. */
  const page = ({ newestFirst, since }: Questions['audit'][0], parts: readonly string[]): StatementSync => {
    const where = [
      'position > ?',
      // The link with the last entry of the range may end behind it.
      'position <= coalesce((select min(position) from audit where position >= ?), ?)',
      ...(since === undefined ? [] : ['at >= ?']),
      ...parts.map(() => 'instr(body, ?) > 0'),
    ].join(' and ')
    const text = `select position, at, body as text, hash from audit where ${where}
      order by position ${newestFirst === true ? 'desc' : 'asc'} limit ?`
    const made = pages.get(text) ?? db.prepare(text)
    pages.set(text, made)
    return made
  }
  const links = (order: string) =>
    `select position, at, body as text, hash from audit where position > ? and position < ?
      order by position ${order} limit ?`
  const oldestLinks = db.prepare(links('asc'))
  const newestLinks = db.prepare(links('desc'))
  const window = db.prepare('select body from audit_window where key = ?')
  const windows = db.prepare(
    'select body from audit_window where opened_at < ? order by opened_at, key limit ?',
  )
  const putWindow = db.prepare(
    'insert into audit_window values (?, ?, ?) on conflict (key) do update set opened_at = excluded.opened_at, body = excluded.body',
  )
  const dropWindow = db.prepare('delete from audit_window where key = ?')
  const readTail = (): AuditTail => {
    const found = getRow<{ position: number; hash: string; start: string | null }>(tail)
    if (found === undefined) throw new Error('The table meta is empty')
    const { position, hash, start } = found
    return { position, hash, start: start === null ? null : (JSON.parse(start) as AuditStart) }
  }

  return {
    tail: readTail,
    page(question: Questions['audit'][0]): Page<ChainedEntry> {
      const range = scannedRange(question, readTail())
      const parts = auditTextParts(question)
      const since = question.since === undefined ? [] : [question.since]
      const found = allRows<AuditLink>(
        page(question, parts),
        ...[range.after, range.through, range.through, ...since, ...parts, question.limit],
      )
      return auditPage(found.map(asLink), question, range)
    },
    links({ newestFirst = false, after, limit }: Questions['auditLinks'][0]): Page<AuditLink> {
      const found = newestFirst
        ? allRows<AuditLink>(newestLinks, 0, after ?? Number.MAX_SAFE_INTEGER, limit)
        : allRows<AuditLink>(oldestLinks, after ?? 0, Number.MAX_SAFE_INTEGER, limit)
      return linkPage(found.map(asLink), limit)
    },
    append: ({ position, at, text, hash }: AuditLink) => append.run(position, at, text, hash),
    putEnd: ({ position, hash }: AuditAnchor) => putEnd.run(position, hash),
    prune(start: AuditStart): void {
      if (start.position <= (readTail().start?.position ?? 0)) return
      prune.run(start.position)
      putStart.run(JSON.stringify(start))
    },
    window(key: string): AuditWindow | null {
      const found = window.get(key)
      return found === undefined ? null : windowFrom(found)
    },
    windows: ({ before, limit }: Questions['auditWindows'][0]): AuditWindow[] =>
      windows.all(before, limit).map(windowFrom),
    putWindow: (value: AuditWindow) => putWindow.run(value.key, value.openedAt, JSON.stringify(value)),
    dropWindow: (key: string) => dropWindow.run(key),
  }
}

/** Rows of node:sqlite have no prototype. */
function asLink(row: AuditLink): AuditLink {
  return { ...row }
}

function windowFrom(found: Record<string, unknown>): AuditWindow {
  return JSON.parse(String(found['body'])) as AuditWindow
}
