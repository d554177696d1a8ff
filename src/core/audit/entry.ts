import { canonical } from '../json/canonical.ts'
import { asJson, type JsonObject } from '../json/json.ts'

/** `repeated` is the total of equal denials that were counted after the first. */
export type AuditDecision =
  | ('allowed' | 'asked' | 'denied')
  | ('approved' | 'refused' | 'expired' | 'withdrawn')
  | ('granted' | 'revoked' | 'revealed')
  | 'repeated'

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

/** The text that is stored and that the hash of the chain covers. Equal entries have equal texts. */
export function auditText(entry: AuditEntry): string {
  return canonical(asJson(entry))
}

/** The entry that a stored text holds; null if somebody has changed the text, so that it holds none. */
export function auditEntryFrom(text: string): AuditEntry | null {
  try {
    const found = JSON.parse(text) as AuditEntry | null
    return found !== null && typeof found === 'object' && typeof found.at === 'number' ? found : null
  } catch {
    return null
  }
}
