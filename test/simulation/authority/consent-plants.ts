import type { ApprovalAnswer } from '../../../src/core/approval/approval.ts'
import type { Rule } from '../../../src/core/capability/rule.ts'
import type { RuleSet } from '../../../src/core/capability/rule-set.ts'
import type { Session } from '../../../src/core/session/session.ts'
import { Kernel } from '../../../src/kernel/kernel.ts'
import { type FolderPolicies, type PolicyFiles, Workspaces } from '../../../src/kernel/workspaces.ts'
import type { Change, Plan, Question } from '../../../src/store/contract.ts'
import type { Plant, Planting } from '../plant.ts'
import { forging, type Steps } from './misinformed.ts'

/** Plausible bugs of grants, edits, reviewers, session trees, policy files and uses that are given back. */
export const consentPlants: readonly Plant[] = [
  {
    name: 'an answer that covers later rules',
    laws: ['every ruling is that of the rules'],
    kind: 'rules',
    since: 4,
    plan: answeringLaterRules,
  },
  {
    name: 'an edit that no rule is asked about',
    laws: ['every ruling is that of the rules'],
    kind: 'rules',
    since: 25,
    often: ['approve with changes'],
    plan: (plan) =>
      forging(
        plan,
        (changes) => isSettled(changes, (answer) => answer.type === 'approved' && answer.spec !== null),
        withoutDenies,
      ),
  },
  {
    name: 'a review whose failure is forgotten',
    laws: ['a review is settled with its end'],
    kind: 'rules',
    since: 22,
    plan: forgettingFailedReviews,
  },
  {
    name: 'a reviewer where a person is wanted',
    laws: ['every ruling is that of the rules'],
    kind: 'rules',
    since: 80,
    plan: (plan) =>
      forging(
        plan,
        (changes) => isNew(changes) && changes.some(isReviewed),
        (question, answer) =>
          inSet(question, answer, (set) => {
            const isReviewer = ({ effect, reviewer }: Rule) => effect === 'ask' && reviewer !== undefined
            if (!set.rules.some(isReviewer)) return set
            return { ...set, rules: set.rules.filter((rule) => rule.effect !== 'ask' || isReviewer(rule)) }
          }),
      ),
  },
  {
    name: 'a session that its parent does not bind',
    laws: ['every ruling is that of the rules'],
    kind: 'rules',
    since: 17,
    plan: (plan, planting) =>
      forging(plan, isNew, (question, answer, _round, together) =>
        isAboveAnother(question, together, planting) ? null : answer,
      ),
  },
  {
    name: 'a session that answers for the one above',
    laws: ['only those who may answer do'],
    kind: 'rules',
    since: 18,
    plan: (plan) =>
      forging(
        plan,
        (changes) => isSettled(changes, ({ by }) => by.startsWith('session:')),
        (question, answer) => {
          if (question.ask !== 'session' || answer === null) return answer
          const { sessionsAbove: _, ...session } = answer as Session
          return session
        },
      ),
  },
  {
    name: 'an untrusted policy file that allows',
    laws: ['every ruling is that of the rules'],
    kind: 'rules',
    since: 13,
    plan: (plan) =>
      forging(plan, isNew, (question, answer) =>
        inSet(question, answer, (set) => (set.source === null ? set : { ...set, trusted: true })),
      ),
  },
  {
    name: 'a policy file that is read once',
    laws: ['a policy file counts as it is'],
    kind: 'rules',
    since: 31,
    kernel: (edges, options) => {
      const { workspaces } = edges
      return new Kernel(
        workspaces === undefined
          ? edges
          : { ...edges, workspaces: new Workspaces(readOnce(workspaces.files)) },
        options,
      )
    },
  },
  {
    name: 'a denial that keeps its use',
    laws: ['a use is spent once'],
    kind: 'rules',
    since: 15,
    plan: keepingUses,
  },
]

/** An answer settles every rule that asks, also one that was added since. */
function answeringLaterRules<Answer>(plan: Plan<Answer>, { ledger }: Planting): Plan<Answer> {
  return forging(plan, isNew, (question, answer) =>
    inSet(question, answer, (set) => {
      if (!set.rules.some(({ settles }) => settles !== undefined)) return set
      const all = ledger.observer.ask({ ask: 'ruleSets', after: null, limit: 1_000 })
      const asks = all.flatMap(({ subject, rules }) =>
        rules.flatMap(({ id, effect }) => (effect === 'ask' ? [{ subject, rule: id }] : [])),
      )
      return {
        ...set,
        rules: set.rules.map((rule) => (rule.settles === undefined ? rule : { ...rule, settles: asks })),
      }
    }),
  )
}

/** The end of a review that gave no answer changes nothing else. */
function forgettingFailedReviews<Answer>(plan: Plan<Answer>): Plan<Answer> {
  return function* (): Steps<Answer> {
    const verdict = yield* plan()
    const ends = verdict.changes.some(
      (change) =>
        change.type === 'process' &&
        change.row.record.outcome !== null &&
        change.row.record.causedBy?.['reviews'] !== undefined,
    )
    if (!ends) return verdict
    const isHandOver = (change: Change) =>
      (change.type === 'approval' && change.approval.state === 'pending') ||
      (change.type === 'audit' && change.entry.action === 'review' && change.entry.decision === 'asked')
    return { ...verdict, changes: verdict.changes.filter((change) => !isHandOver(change)) }
  }
}

/** What is not approved keeps the uses that were reserved for it. */
function keepingUses<Answer>(plan: Plan<Answer>): Plan<Answer> {
  return function* (): Steps<Answer> {
    const verdict = yield* plan()
    const isOver = verdict.changes.some(
      (change) =>
        change.type === 'approval' &&
        change.approval.state !== 'pending' &&
        change.approval.answer?.type !== 'approved',
    )
    const isGivenBack = (change: Change) =>
      change.type === 'rule_use' && change.use.used < (change.was?.used ?? 0)
    return isOver
      ? { ...verdict, changes: verdict.changes.filter((change) => !isGivenBack(change)) }
      : verdict
  }
}

/** Finds in a folder what it found there first. */
function readOnce(files: PolicyFiles): PolicyFiles {
  const known = new Map<string, Promise<FolderPolicies>>()
  return {
    look: (folder, maxAgeMs) => {
      const found = known.get(folder) ?? files.look(folder, maxAgeMs)
      known.set(folder, found)
      return found
    },
    get broken() {
      return files.broken
    },
  }
}

function withoutDenies(question: Question, answer: unknown): unknown {
  return inSet(question, answer, (set) => ({
    ...set,
    rules: set.rules.filter(({ effect }) => effect !== 'deny'),
  }))
}

function inSet(question: Question, answer: unknown, change: (set: RuleSet) => RuleSet): unknown {
  return question.ask !== 'ruleSet' || answer === null ? answer : change(answer as RuleSet)
}

/** Whether the plan also asks for the rules of a session below this one. */
function isAboveAnother(question: Question, together: readonly Question[], { ledger }: Planting): boolean {
  return together.some((other) => {
    if (question.ask !== 'ruleSet' || other.ask !== 'ruleSet' || !other.subject.startsWith('session:'))
      return false
    const below = ledger.sessions.get(other.subject.slice('session:'.length))
    return below?.sessionsAbove?.some((above) => question.subject === `session:${above}`) === true
  })
}

/** It registers processes, and changes no rules. */
function isNew(changes: readonly Change[]): boolean {
  return (
    changes.some((change) => change.type === 'process' && change.was === null) &&
    !changes.some(({ type }) => type === 'rule_set')
  )
}

function isReviewed(change: Change): boolean {
  return change.type === 'approval' && change.was === null && change.approval.request.reviewer !== null
}

function isSettled(changes: readonly Change[], isWanted: (answer: ApprovalAnswer) => boolean): boolean {
  return changes.some(
    (change) =>
      change.type === 'approval' && change.approval.answer !== null && isWanted(change.approval.answer),
  )
}
