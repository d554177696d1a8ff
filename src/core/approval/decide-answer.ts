import type { Rule } from '../capability/rule.ts'
import type { RuleRef } from '../capability/ruling.ts'
import { canonical } from '../json/canonical.ts'
import { asJson, type Json, type JsonObject } from '../json/json.ts'
import type { ApprovalSettled } from '../process/event.ts'
import type { Actor } from '../process/record.ts'
import { type Refusal, refusal } from '../refusal.ts'
import {
  type Approval,
  type ApprovalAnswer,
  type ApprovalGrant,
  isPending,
  type PermissionRequest,
  type QuestionRequest,
} from './approval.ts'

/** The answer of a person, or of another actor that may answer. */
export type Answer =
  | {
      readonly type: 'approve'
      readonly grant: ApprovalGrant
      /** Changes the action before it runs: the whole new spec, and the hash of the action that it makes. */
      readonly edit?: { readonly spec: JsonObject; readonly actionHash: string }
      /** With `always`: the rule as it was shown, so that no other one is stored. */
      readonly rule?: Rule
      /** With `always`: the subject that gets the rule, if it is not the home. */
      readonly storedIn?: string
    }
  | { readonly type: 'deny'; readonly advice?: string }
  | { readonly type: 'reply'; readonly value: Json }

/** An answer before its edit is looked at. */
export interface GivenAnswer {
  readonly answer: Answer
  /** It changes the action. */
  readonly isEdited: boolean
}

export type AnswerDecision =
  | {
      readonly type: 'settle'
      readonly approval: Approval
      readonly settled: ApprovalSettled
      readonly value: Json
    }
  /** It was settled before: this is the recorded decision. */
  | { readonly type: 'settled_before'; readonly approval: Approval }
  /** Its time is over, and no kernel has ended the process yet: the caller does that, in the name of the kernel. */
  | { readonly type: 'too_late' }
  | { readonly type: 'refuse'; readonly refusal: Refusal }

/** Settles an approval with an answer. The first answer wins, and every later one gets the recorded decision. */
export function decideAnswer(approval: Approval, answer: Answer, by: Actor, at: number): AnswerDecision {
  if (!isPending(approval)) return { type: 'settled_before', approval }
  // A clock that stood still, or a daemon that was away, must not let a late answer start it.
  if (isOver(approval, at)) return { type: 'too_late' }
  const refused = refuseAnswer(approval, answer, by)
  if (refused !== undefined) return { type: 'refuse', refusal: refused }
  return {
    type: 'settle',
    approval: { ...approval, state: 'answered', answer: answerOf(answer, by, at) },
    settled: settledBy(approval, answer, by),
    value: answer.type === 'reply' ? answer.value : null,
  }
}

/** A stored rule answers it: the action is one that a person has approved for every time. */
export function settledByRule(approval: Approval, rule: RuleRef, by: Actor, at: number): AnswerDecision {
  if (!isPending(approval)) return { type: 'settled_before', approval }
  if (isOver(approval, at)) return { type: 'too_late' }
  return {
    type: 'settle',
    approval: {
      ...approval,
      state: 'answered',
      answer: { type: 'approved', by, at, grant: 'once', spec: null, rule },
    },
    settled: { approval: approval.id, how: 'approved', by },
    value: null,
  }
}

/** Whether the time to answer is over. */
export function isOver({ expiresAt }: Approval, at: number): boolean {
  return expiresAt !== null && expiresAt <= at
}

/** Its time is over: the process ends, and does not begin. `by`: the kernel that ends it. */
export function expired(
  approval: Approval,
  by: Actor,
): Extract<AnswerDecision, { type: 'settle' | 'settled_before' }> {
  if (!isPending(approval)) return { type: 'settled_before', approval }
  return {
    type: 'settle',
    approval: { ...approval, state: 'expired' },
    settled: { approval: approval.id, how: 'expired', by },
    value: null,
  }
}

/** The process ended, or is to end: no person need answer any more. */
export function withdrawn(approval: Approval): Approval {
  return isPending(approval) ? { ...approval, state: 'withdrawn' } : approval
}

function refuseAnswer(approval: Approval, answer: Answer, by: Actor): Refusal | undefined {
  const { id, request } = approval
  if (answer.type === 'deny') return undefined
  if (answer.type === 'reply') {
    return request.type === 'question'
      ? refuseReply(id, request, answer.value)
      : wrong(id, 'asks for a permission', 'Approve or deny it.')
  }
  return request.type === 'permission'
    ? (refuseReach(approval, { answer, isEdited: answer.edit !== undefined }, by) ??
        refuseGrant(id, request, answer))
    : wrong(id, 'is a question', 'Reply to it with a text or one of its choices.')
}

function refuseReply(id: string, { choices }: QuestionRequest, value: Json): Refusal | undefined {
  if (choices === null || (typeof value === 'string' && choices.includes(value))) return undefined
  return wrong(id, `has no choice ${JSON.stringify(value)}`, `Reply with one of: ${choices.join(', ')}.`)
}

/**
 * Refuses an answer that reaches further than its actor may decide: an agent that may answer decides about one request. Only a person
 * changes the action, or what will be asked later.
 */
export function refuseReach(
  { id }: Approval,
  { answer, isEdited }: GivenAnswer,
  by: Actor,
): Refusal | undefined {
  if (by === 'host' || by.startsWith('human:')) return undefined
  if (answer.type !== 'approve' || (answer.grant === 'once' && !isEdited)) return undefined
  return refusal(
    'denied',
    `${by} may approve ${id} as it is and once, and no more.`,
    'Approve it with once, or leave it to a person.',
    { subject: by, right: 'approve' },
  )
}

function refuseGrant(
  id: string,
  { grants, alwaysRule }: PermissionRequest,
  { grant, edit, rule }: Extract<Answer, { type: 'approve' }>,
): Refusal | undefined {
  if (!grants.includes(grant))
    return wrong(id, `cannot be approved with ${grant}`, `Use ${grants.join(' or ')}.`)
  if (edit !== undefined && grant !== 'once')
    return wrong(id, 'can be edited for one time only', 'Approve the edited action with once.')
  if (grant !== 'always') return undefined
  const isShown =
    rule !== undefined && alwaysRule !== null && canonical(asJson(rule)) === canonical(asJson(alwaysRule))
  return isShown
    ? undefined
    : wrong(
        id,
        'stores another rule than the one that you name',
        'Read the rule first, and send it back as it is shown.',
      )
}

function answerOf(answer: Answer, by: Actor, at: number): ApprovalAnswer {
  switch (answer.type) {
    case 'approve':
      return {
        type: 'approved',
        by,
        at,
        grant: answer.grant,
        ...(answer.storedIn === undefined ? {} : { storedIn: answer.storedIn }),
        spec: answer.edit?.spec ?? null,
        rule: null,
      }
    case 'deny':
      return { type: 'denied', by, at, advice: answer.advice ?? null }
    case 'reply':
      return { type: 'replied', by, at, value: answer.value }
  }
}

function settledBy({ id }: Approval, answer: Answer, by: Actor): ApprovalSettled {
  switch (answer.type) {
    case 'approve':
      return {
        approval: id,
        how: 'approved',
        by,
        ...(answer.edit === undefined ? {} : { spec: answer.edit.spec, actionHash: answer.edit.actionHash }),
      }
    case 'deny':
      return {
        approval: id,
        how: 'denied',
        by,
        ...(answer.advice === undefined ? {} : { advice: answer.advice }),
      }
    case 'reply':
      return { approval: id, how: 'answered', by }
  }
}

function wrong(id: string, what: string, remedy: string): Refusal {
  return refusal('invalid_input', `The approval ${id} ${what}.`, remedy, { approval: id })
}
