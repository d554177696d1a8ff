import { hash } from 'node:crypto'
import type { AuditAnchor, ChainedEntry } from '../core/audit/chain.ts'
import { type AuditEntry, auditText } from '../core/audit/entry.ts'

/** The entry that follows `end` in the chain. PostgreSQL computes the same in append_audit. */
export function chained(end: AuditAnchor, entry: AuditEntry): ChainedEntry {
  const text = auditText(entry)
  return { position: end.position + 1, at: entry.at, text, hash: hash('sha256', `${end.hash}${text}`) }
}
