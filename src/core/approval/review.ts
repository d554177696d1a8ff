import { asJson, type JsonObject, objectOf } from '../json/json.ts'
import type { Outcome, ProcessRecord } from '../process/record.ts'
import type { RegistrationRequest } from '../process/registration-request.ts'
import type { Approval } from './approval.ts'

/** How long a reviewer may take before a person is asked. */
export const REVIEW_MS = 120_000

/** Of the advice of a reviewer; the rest is cut off. */
const MAX_ADVICE_CHARS = 2_000

export interface Reviewer {
  readonly kind: 'tool' | 'workflow' | 'agent'
  readonly name: string
}

/** The reviewer that a rule names: `tool:…`, `workflow:…` or `agent:…`. A name alone is that of an agent. */
export function reviewerOf(text: string): Reviewer {
  const [, kind, name] = /^(tool|workflow|agent):(.+)$/s.exec(text) ?? []
  return kind === undefined || name === undefined
    ? { kind: 'agent', name: text }
    : { kind: kind as Reviewer['kind'], name }
}

/** The process that reviews a request; null if no executor can run it. */
export function reviewProcess({ id, request }: Approval): RegistrationRequest | null {
  if (request.type !== 'permission' || request.reviewer === null) return null
  const { kind, name } = reviewerOf(request.reviewer)
  // The result of an agent is a text, and not a verdict: a person is asked.
  if (kind === 'agent') return null
  const { action, needs, reason, rule, justification, subject, session, ancestors } = request
  const input: JsonObject = {
    approval: id,
    subject,
    session,
    ancestors: [...ancestors],
    action: asJson(action),
    needs: [...needs],
    reason,
    rule: rule.text,
    justification,
  }
  return {
    kind,
    spec: { [kind]: name, input },
    label: `review of ${id}`,
    lifetime: 'daemon',
    causedBy: { reviews: id },
  }
}

/** The text that the pid of a review is derived from: a request is reviewed by one process at most. */
export function reviewKeyOf(approval: string): string {
  return `review ${approval}`
}

/** The approval that a process reviews; null if it reviews none. Only kernels register reviews. */
export function reviewedBy({
  originator,
  causedBy,
  parent,
}: Pick<ProcessRecord, 'originator' | 'causedBy' | 'parent'>): string | null {
  const reviews = causedBy?.['reviews']
  return originator.startsWith('kernel:') && parent === null && typeof reviews === 'string' ? reviews : null
}

export type Verdict =
  | { readonly type: 'approve'; readonly advice: string | null }
  | { readonly type: 'deny'; readonly advice: string | null }
  /** A person decides. */
  | { readonly type: 'hand_over'; readonly reason: string }

/** What the end of a review says about the request. Everything except a clear answer is for a person to decide. */
export function verdictOf({ status, reason, result }: Outcome): Verdict {
  if (status !== 'completed')
    return handOver(`the reviewer ended as ${status}${reason === null ? '' : `: ${reason}`}`)
  const { decision, advice } = objectOf(result)
  if (advice !== undefined && advice !== null && typeof advice !== 'string') return unclear()
  const text = typeof advice === 'string' && advice !== '' ? advice.slice(0, MAX_ADVICE_CHARS) : null
  if (decision === 'approve' || decision === 'deny') return { type: decision, advice: text }
  return decision === 'unsure'
    ? handOver(`the reviewer is unsure${text === null ? '' : `: ${text}`}`)
    : unclear()
}

function unclear(): Verdict {
  return handOver('the reviewer gave no clear answer')
}

function handOver(reason: string): Verdict {
  return { type: 'hand_over', reason }
}

/** The same request, for a person to answer, who is told at once. */
export function handedOver(approval: Approval, at: number): Approval {
  const { reviewUntil: _, ...kept } = approval
  return { ...kept, pushAt: at, request: { ...approval.request, reviewer: null } }
}

/** Whether a reviewer works on it, or should. */
export function isInReview({ state, request }: Approval): boolean {
  return state === 'pending' && request.reviewer !== null
}
