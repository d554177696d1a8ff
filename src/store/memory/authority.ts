import type { Approval } from '../../core/approval/approval.ts'
import { type AuditLink, type AuditTail, CHAIN_BEGIN, type ChainedEntry } from '../../core/audit/chain.ts'
import { auditPage, linkPage, matchesAuditText, scannedRange } from '../audit-page.ts'
import type { DueBy, Page, Questions } from '../contract.ts'
import type { MemoryTables, NumberedApproval } from './memory-tables.ts'

export function approvals(
  tables: MemoryTables,
  { state, person, pid, newestFirst = false, after, limit }: Questions['approvals'][0],
): Page<Approval> {
  const found = [...tables.approvals.values()]
    .filter(({ place }) => after === null || (newestFirst ? place < after : place > after))
    .filter(({ approval }) => state === undefined || approval.state === state)
    .filter(({ approval }) => pid === undefined || approval.pid === pid)
    .filter(({ approval }) => person === undefined || approval.person === null || approval.person === person)
    .sort((a, b) => (newestFirst ? b.place - a.place : a.place - b.place))
    .slice(0, limit)
  return {
    items: found.map(({ approval }) => approval),
    next: found.length < limit ? null : (found.at(-1)?.place ?? null),
  }
}

export function approvalQueue(
  tables: MemoryTables,
  { person, limit }: Questions['approvalQueue'][0],
): Questions['approvalQueue'][1] {
  const found = [...tables.approvals.values()]
    .filter(({ approval }) => approval.state === 'pending')
    .filter(({ approval }) => person === undefined || approval.person === null || approval.person === person)
    .sort((a, b) => b.approval.request.priority - a.approval.request.priority || a.place - b.place)
  return { approvals: found.slice(0, limit).map(({ approval }) => approval), pending: found.length }
}

export function approvalsDue(
  tables: MemoryTables,
  { by = 'expiresAt', at, limit }: Questions['approvalsDue'][0],
): Approval[] {
  return pendingBy(tables, by)
    .filter(({ due }) => due <= at)
    .slice(0, limit)
    .map(({ approval }) => approval)
}

export function nextApprovalDue(
  tables: MemoryTables,
  { by = 'expiresAt' }: Questions['nextApprovalDue'][0],
): number | null {
  return pendingBy(tables, by)[0]?.due ?? null
}

/** The earliest first. */
function pendingBy(tables: MemoryTables, by: DueBy) {
  const dueIn = ({ approval, place }: NumberedApproval) => {
    const due = approval[by] ?? null
    return approval.state !== 'pending' || due === null ? [] : [{ due, place, approval }]
  }
  return [...tables.approvals.values()].flatMap(dueIn).sort((a, b) => a.due - b.due || a.place - b.place)
}

export function auditTail({ audit, auditStart }: MemoryTables): AuditTail {
  const { position, hash } = audit.at(-1) ?? auditStart ?? CHAIN_BEGIN
  return { position, hash, start: auditStart }
}

export function auditEntries(tables: MemoryTables, question: Questions['audit'][0]): Page<ChainedEntry> {
  const range = scannedRange(question, auditTail(tables))
  const found = tables.audit.filter(
    ({ position, text }) =>
      position > range.after && position <= range.through && matchesAuditText(text, question),
  )
  const ordered = question.newestFirst === true ? found.toReversed() : found
  return auditPage(ordered.slice(0, question.limit), question, range)
}

export function auditLinks(
  { audit }: MemoryTables,
  { newestFirst = false, after, limit }: Questions['auditLinks'][0],
): Page<AuditLink> {
  const found = newestFirst
    ? audit.filter(({ position }) => position < (after ?? Number.MAX_SAFE_INTEGER)).toReversed()
    : audit.filter(({ position }) => position > (after ?? 0))
  return linkPage(found.slice(0, limit), limit)
}
