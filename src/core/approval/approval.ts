import type { Action } from '../capability/action.ts'
import type { Need } from '../capability/need.ts'
import type { Rule, RuleLink } from '../capability/rule.ts'
import type { RuleRef } from '../capability/ruling.ts'
import type { Variables } from '../environment/secrets.ts'
import type { Json, JsonObject } from '../json/json.ts'
import type { Pid } from '../process/pid.ts'
import type { Actor } from '../process/record.ts'
import type { ShownChange } from './shown-change.ts'

/** Only a pending approval can be answered, withdrawn or expire. */
export type ApprovalState = 'pending' | 'answered' | 'withdrawn' | 'expired'

/** How far a yes reaches: this time, the same action of this process or session, or every time, by a rule. */
export type ApprovalGrant = 'once' | 'process' | 'session' | 'always'

/** One request to a person, and its answer. It is settled exactly once. */
export interface Approval {
  readonly id: string
  /** The process that waits for it. It is removed with that process. */
  readonly pid: Pid
  readonly state: ApprovalState
  readonly askedAt: number
  /** The person who is asked; null if any person may answer. */
  readonly person: string | null
  readonly expiresAt: number | null
  /** When surfaces push it to people; null once that has happened. */
  readonly pushAt: number | null
  /** When a person is asked instead of the reviewer. Absent without a reviewer. */
  readonly reviewUntil?: number
  readonly request: ApprovalRequest
  readonly answer: ApprovalAnswer | null
}

export type ApprovalRequest = {
  /** The session or process that asks. */
  readonly subject: Actor
  readonly session: string | null
  /** The processes above the one that waits, the nearest first. */
  readonly ancestors: readonly Pid[]
  /** The process that decides before a person is asked, as `tool:…`, `workflow:…` or `agent:…`; null if a person is asked. */
  readonly reviewer: string | null
  /** Higher ones are shown first. */
  readonly priority: number
  /** Why the asker wants it, in its own words. */
  readonly reason: string | null
} & (PermissionRequest | QuestionRequest)

/** May this process begin. */
export interface PermissionRequest {
  readonly type: 'permission'
  /** The exact action, with every default filled in. */
  readonly action: Action
  readonly actionHash: string
  /** The variables that the request sets, and of the others those that change which code runs. */
  readonly variables: Variables
  /** What a call of a file tool would make of its file. Absent for all else, and in requests of earlier versions. */
  readonly change?: ShownChange
  /** What the action does, a line for each effect. */
  readonly needs: readonly string[]
  /**
   * The same effects as rules compare them: an answer is ruled on again, with the rules of its time. Absent in requests that an
   * earlier version stored.
   */
  readonly effects?: readonly Need[]
  /** The subjects whose rule sets bind it, the widest first. Absent as `effects` is. */
  readonly boundBy?: readonly string[]
  readonly rule: RuleRef
  /** Why the rule asks. */
  readonly justification: string | null
  /** Why it is not certain that the rule is about the action. Absent if it certainly is, and in requests of earlier versions. */
  readonly doubt?: string
  /** No is the default answer: the action destroys something. */
  readonly defaultToNo: boolean
  /** The grants that may be given. */
  readonly grants: readonly ApprovalGrant[]
  /** The rules that the grants `process` and `session` store; none where the grant is not offered. */
  readonly grantRules: { readonly process: readonly Rule[]; readonly session: readonly Rule[] }
  /** The rule that the grant `always` stores; null where none is offered. */
  readonly alwaysRule: Rule | null
  /** The rules that asked: a yes answers all of them. */
  readonly settles: readonly RuleLink[]
  /** Equal for requests of the same action by any asker: the rule of `always` has it as its constraint `action`. */
  readonly repeatHash: string
  /** The uses of counted rules that were reserved for it. They are given back unless it is approved. */
  readonly uses: readonly Pick<RuleRef, 'subject' | 'id'>[]
}

/** A question with choices, or for free text. */
export interface QuestionRequest {
  readonly type: 'question'
  readonly text: string
  readonly choices: readonly string[] | null
  /**
   * The uses of counted rules that were reserved for it. Nothing begins, so they are given back when it is settled. Absent in
   * requests that an earlier version stored.
   */
  readonly uses?: readonly Pick<RuleRef, 'subject' | 'id'>[]
}

export type ApprovalAnswer = { readonly by: Actor; readonly at: number } & (
  | {
      readonly type: 'approved'
      readonly grant: ApprovalGrant
      /** Of `always`: the subject that got the rule. Absent if it is the home. */
      readonly storedIn?: string
      /** The spec that runs instead of the requested one. */
      readonly spec: JsonObject | null
      /** The rule that settled it, if no person answered this very request. */
      readonly rule: RuleRef | null
    }
  | { readonly type: 'denied'; readonly advice: string | null }
  | { readonly type: 'replied'; readonly value: Json }
)

export function isPending({ state }: Approval): boolean {
  return state === 'pending'
}
