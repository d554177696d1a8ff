import type { Refusal } from '../refusal.ts'
import type { AuditEntry } from './entry.ts'

/** An act that may be denied, as the audit names it. */
export interface Act {
  readonly at: number
  readonly actor: string
  readonly action: string
  readonly target: string
  readonly trace?: string | null
}

/** Whether a refusal is a denial: the actor lacks the right. Each is in the audit, unless the actor only wanted to read. */
export function isDenial({ code }: Pick<Refusal, 'code'>): boolean {
  return code === 'denied'
}

/** The entry of a denial that no rule decided. */
export function denialEntry(
  { message }: Refusal,
  { at, actor, action, target, trace = null }: Act,
): AuditEntry {
  return { at, actor, action, target, decision: 'denied', rule: null, reason: message, inputs: {}, trace }
}
