import {
  type AuditLink,
  type AuditStart,
  type AuditTail,
  CHAIN_BEGIN,
  type ChainedEntry,
} from '../../../core/audit/chain.ts'
import { auditTextParts } from '../../../core/audit/filter.ts'
import type { AuditWindow } from '../../../core/audit/window.ts'
import { auditPage, linkPage, scannedRange } from '../../audit-page.ts'
import type { Page, Questions } from '../../contract.ts'
import type { Link } from '../link.ts'
import { bodies, versionedBodies } from './bodies.ts'
import { Values } from './conditions.ts'

/** The chain, and the windows that count repeated denials outside of it. */
export function auditStatements(link: Link, at: string) {
  const tail = async (): Promise<AuditTail> => {
    const [found] = await link.query<{ position: number; hash: string; start: string | null }>(
      `select audit_position as position, audit_hash as hash, audit_start as start from ${at}meta`,
    )
    const { position, hash, start } = found ?? { ...CHAIN_BEGIN, start: null }
    return { position, hash, start: start === null ? null : (JSON.parse(start) as AuditStart) }
  }

  return {
    tail,
    async page(question: Questions['audit'][0]): Promise<Page<ChainedEntry>> {
      const range = scannedRange(question, await tail())
      const values = new Values()
      const through = values.add(range.through)
      const where = [
        `position > ${values.add(range.after)}`,
        // The link with the last entry of the range may end behind it.
        `position <= coalesce((select min(position) from ${at}audit where position >= ${through}), ${through})`,
        ...(question.since === undefined ? [] : [`at >= ${values.add(question.since)}`]),
        ...auditTextParts(question).map((part) => `strpos(body, ${values.add(part)}) > 0`),
      ].join(' and ')
      const found = await link.query<AuditLink>(
        `select position, at, body as text, hash from ${at}audit where ${where}
          order by position ${question.newestFirst === true ? 'desc' : 'asc'} limit ${values.add(question.limit)}`,
        values.all,
      )
      return auditPage([...found], question, range)
    },
    async links({ newestFirst, after, limit }: Questions['auditLinks'][0]): Promise<Page<AuditLink>> {
      const found = await link.query<AuditLink>(
        `select position, at, body as text, hash from ${at}audit where position ${newestFirst ? '<' : '>'} $1
          order by position ${newestFirst ? 'desc' : 'asc'} limit $2`,
        [after ?? (newestFirst ? Number.MAX_SAFE_INTEGER : 0), limit],
      )
      return linkPage([...found], limit)
    },
    windowsOf: (keys: readonly string[]) =>
      versionedBodies<AuditWindow>(link, `select version, body from ${at}audit_window where key = any ($1)`, [
        keys,
      ]),
    windows: ({ before, limit }: Questions['auditWindows'][0]) =>
      bodies<AuditWindow>(
        link,
        `select body from ${at}audit_window where opened_at < $1 order by opened_at, key limit $2`,
        [before, limit],
      ),
  }
}
