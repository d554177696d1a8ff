import type { AuditDecision, AuditEntry } from './entry.ts'

/** Selects entries of the audit; all that is given must match. */
export interface AuditFilter {
  readonly actor?: string
  readonly target?: string
  readonly decision?: AuditDecision
  /** Only entries of this time or later. */
  readonly since?: number
}

export function matchesAudit(entry: AuditEntry, { actor, target, decision, since }: AuditFilter): boolean {
  return (
    (actor === undefined || entry.actor === actor) &&
    (target === undefined || entry.target === target) &&
    (decision === undefined || entry.decision === decision) &&
    (since === undefined || entry.at >= since)
  )
}

/** Every text of a matching entry contains these, so that a database can pass over others without parsing them. */
export function auditTextParts({ actor, target, decision }: AuditFilter): string[] {
  return Object.entries({ actor, target, decision }).flatMap(([name, value]) =>
    value === undefined ? [] : [`"${name}":${JSON.stringify(value)}`],
  )
}
