import { isObject } from '../../base/is-object.ts'
import type { JsonObject } from '../json/json.ts'

/** `repeated` is the total of equal denials that were counted after the first. */
export const AUDIT_DECISIONS = [
  ...(['allowed', 'asked', 'denied'] as const),
  ...(['approved', 'refused', 'expired', 'withdrawn'] as const),
  ...(['granted', 'revoked', 'revealed'] as const),
  'repeated',
] as const
export type AuditDecision = (typeof AUDIT_DECISIONS)[number]

/** One decision about authority, as the audit keeps it. */
export interface AuditEntry {
  readonly at: number
  readonly actor: string
  readonly action: string
  readonly target: string
  readonly decision: AuditDecision
  /** The rule that decided; null if none did. */
  readonly rule: { readonly subject: string; readonly id: string; readonly text: string } | null
  readonly reason: string | null
  /** What the decision was about, with secrets masked. */
  readonly inputs: JsonObject
  /** The W3C trace context of the request. */
  readonly trace: string | null
}

/** The text of an entry. The members of an entry have one order, those of its inputs any. */
export function auditText(entry: AuditEntry): string {
  const { action, actor, at, decision, inputs, reason, rule, target, trace } = entry
  return JSON.stringify({ action, actor, at, decision, inputs, reason, rule, target, trace })
}

/** The entry that a stored text holds; null if the text was changed, so that it holds none. */
export function auditEntryFrom(text: string): AuditEntry | null {
  try {
    const found: unknown = JSON.parse(text)
    return isEntry(found) ? found : null
  } catch {
    return null
  }
}

export function isEntry(value: unknown): value is AuditEntry {
  if (!isObject(value)) return false
  const { at, actor, action, target, decision, rule, reason, inputs, trace } = value
  const areTexts = [actor, action, target, decision].every((member) => typeof member === 'string')
  const areOptional = [reason, trace].every((member) => member === null || typeof member === 'string')
  return (
    typeof at === 'number' && areTexts && areOptional && isObject(inputs) && (rule === null || isObject(rule))
  )
}
