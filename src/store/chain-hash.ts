import { hash } from 'node:crypto'
import type { AuditAnchor, AuditLink } from '../core/audit/chain.ts'
import type { LinkText } from '../core/audit/link.ts'

/** The link that follows `end` in the chain. PostgreSQL computes the same in append_audit. */
export function chained(end: AuditAnchor, { count, at, text }: LinkText): AuditLink {
  return { position: end.position + count, at, text, hash: hash('sha256', `${end.hash}${text}`) }
}
