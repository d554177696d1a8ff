import type { Approval } from '../core/approval/approval.ts'
import type { AuditEntry } from '../core/audit/entry.ts'
import type { RuleRef } from '../core/capability/ruling.ts'
import type { Actor, ProcessRecord } from '../core/process/record.ts'
import type { Refusal } from '../core/refusal.ts'

/** An answer that was refused because its actor may not give it, or because a rule forbids the action by now. */
export function deniedAnswerEntry(
  { id, pid, request }: Approval,
  denied: {
    readonly at: number
    readonly by: Actor
    /** The type of the answer. */
    readonly answer: string
    readonly refusal: Refusal
    readonly rule: RuleRef | null
  },
): AuditEntry {
  const { at, by, answer, refusal, rule } = denied
  return {
    at,
    actor: by,
    action: 'answer',
    target: `process:${pid}`,
    decision: 'denied',
    rule,
    reason: refusal.message,
    inputs: { approval: id, asker: request.subject, answer },
    trace: null,
  }
}

/** A request that ended with its process, before it was answered. */
export function withdrawnEntry(
  { id, pid, request }: Approval,
  { at, by, outcome }: { readonly at: number; readonly by: Actor } & Pick<ProcessRecord, 'outcome'>,
): AuditEntry {
  return {
    at,
    actor: by,
    action: 'withdraw',
    target: `process:${pid}`,
    decision: 'withdrawn',
    rule: request.type === 'permission' ? request.rule : null,
    reason: outcome?.reason ?? null,
    inputs: { approval: id, asker: request.subject },
    trace: null,
  }
}
