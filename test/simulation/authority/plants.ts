import type { Approval } from '../../../src/core/approval/approval.ts'
import type { Rule } from '../../../src/core/capability/rule.ts'
import type { RuleSet } from '../../../src/core/capability/rule-set.ts'
import { Kernel } from '../../../src/kernel/kernel.ts'
import { type Change, know, type Plan, type Store } from '../../../src/store/contract.ts'
import type { Ledger } from '../ledger.ts'
import type { Plant, Planting } from '../plant.ts'
import { consentPlants } from './consent-plants.ts'
import { misinformed, type Steps } from './misinformed.ts'

/** Plausible bugs of rules, approvals and the audit. */
export const authorityPlants: readonly Plant[] = [
  {
    name: 'expired approval starts',
    laws: ['an expired approval starts nothing'],
    kind: 'rules',
    since: 22,
    plan: forgettingExpiry,
  },
  {
    name: 'hash ignores environment',
    // The grants that remember an answer compare the same hash.
    laws: ['only the approved action begins', 'every ruling is that of the rules'],
    kind: 'rules',
    since: 128,
    kernel: (edges, options) =>
      new Kernel({ ...edges, hash: (text) => edges.hash(text.replace(ENVIRONMENT_HASH, '')) }, options),
  },
  {
    name: 'denial not written',
    laws: ['every denial is in the audit'],
    kind: 'rules',
    plan: forgettingDenials,
  },
  {
    name: 'denial by ownership not written',
    laws: ['every denial is in the audit'],
    kind: 'rules',
    since: 2,
    plan: forgettingOwnership,
  },
  {
    name: 'equal denials by ownership all appended',
    laws: ['equal denials are counted'],
    kind: 'rules',
    since: 4,
    plan: forgettingWindows,
  },
  {
    name: 'changed program still starts',
    laws: ['a changed command is asked about'],
    since: 5,
    kind: 'rules',
    kernel: (edges, options) =>
      new Kernel({ ...edges, hash: (text) => edges.hash(withoutIdentities(text)) }, options),
  },
  {
    name: 'revoked link still counts',
    laws: ['every ruling is that of the rules'],
    kind: 'rules',
    since: 70,
    plan: rememberingLinks,
  },
  {
    name: 'audit outside the commit',
    laws: ['an act and its audit entry are one commit'],
    kind: 'rules',
    kernel: (edges, options) => new Kernel({ ...edges, store: auditingLater(edges.store) }, options),
  },
  {
    name: 'use not spent after crash',
    laws: ['a use is spent once'],
    kind: 'rules',
    since: 34,
    plan: givingUsesBack,
  },
  ...consentPlants,
]

const ENVIRONMENT_HASH = /"environmentHash":"(?:[^"\\]|\\.)*",?/

/** The text of the files of a command, as if each program had one content for all time. Actions that people approve are told apart. */
function withoutIdentities(text: string): string {
  return text.startsWith('{"cwd":') ? text.replace(/"identity":"[^"]*"/g, '"identity":""') : text
}

/** Only rules and answers write their denials. */
function forgettingOwnership<Answer>(plan: Plan<Answer>): Plan<Answer> {
  return function* (): Steps<Answer> {
    const verdict = yield* plan()
    return verdict.changes.some(isByOwnership)
      ? { ...verdict, changes: verdict.changes.filter((change) => !isAudit(change)) }
      : verdict
  }
}

/** Each denial by ownership is the first of its window. */
function forgettingWindows<Answer>(plan: Plan<Answer>): Plan<Answer> {
  return function* (): Steps<Answer> {
    const forgotten = yield* misinformed(plan, (question, answer) =>
      question.ask === 'auditWindow' ? null : answer,
    )
    return forgotten.changes.some(isByOwnership) ? forgotten : yield* plan()
  }
}

function isByOwnership(change: Change): boolean {
  return (
    change.type === 'audit' &&
    change.entry.decision === 'denied' &&
    change.entry.rule === null &&
    change.entry.action !== 'spawn' &&
    change.entry.action !== 'answer'
  )
}

/** A refused plan writes nothing, not even to the audit. */
function forgettingDenials<Answer>(plan: Plan<Answer>): Plan<Answer> {
  return function* (): Steps<Answer> {
    const verdict = yield* plan()
    return verdict.changes.every(isAudit) ? { ...verdict, changes: [] } : verdict
  }
}

/** An answer is accepted at any time: the sweep alone looks at the clock. */
function forgettingExpiry<Answer>(plan: Plan<Answer>): Plan<Answer> {
  return function* (): Steps<Answer> {
    const truth = new Map<string, Approval>()
    const verdict = yield* misinformed(plan, (question, answer) => {
      if (question.ask !== 'approval' || answer === null) return answer
      const approval = answer as Approval
      truth.set(approval.id, approval)
      return { ...approval, expiresAt: null }
    })
    const changes = verdict.changes.map((change) => {
      const was = change.type === 'approval' ? truth.get(change.approval.id) : undefined
      if (change.type !== 'approval' || was === undefined) return change
      return { ...change, was, approval: { ...change.approval, expiresAt: was.expiresAt } }
    })
    return { answer: withExpiry(verdict.answer, truth), changes }
  }
}

function withExpiry<Answer>(answer: Answer, truth: ReadonlyMap<string, Approval>): Answer {
  const { approval } = Object(answer) as { readonly approval?: Approval }
  const was = approval === undefined ? undefined : truth.get(approval.id)
  return was === undefined ? answer : { ...answer, approval: { ...approval, expiresAt: was.expiresAt } }
}

/** Allows of delegators are remembered, and count after they were revoked. */
function rememberingLinks<Answer>(plan: Plan<Answer>, { ledger }: Planting): Plan<Answer> {
  const known = remembered.get(ledger) ?? new Map<string, Map<string, Rule>>()
  remembered.set(ledger, known)
  const remember = (subject: string, rule: Rule) => {
    const rules = known.get(subject) ?? new Map<string, Rule>()
    known.set(subject, rules.set(rule.id, rule))
  }
  return function* (): Steps<Answer> {
    let own: number | undefined
    return yield* misinformed(plan, (question, answer, round) => {
      if (question.ask !== 'ruleSet' || answer === null) return answer
      const set = answer as RuleSet
      for (const rule of set.rules) if (rule.delegable !== undefined) remember(set.subject, rule)
      own ??= round
      // First a plan asks for the sets of its actor, then for those of delegators.
      if (round === own) return answer
      const revoked = [...(known.get(set.subject)?.values() ?? [])].filter(
        ({ id }) => !set.rules.some((rule) => rule.id === id),
      )
      return revoked.length === 0 ? answer : { ...set, rules: [...set.rules, ...revoked] }
    })
  }
}

/** By world, subject and id. */
const remembered = new WeakMap<Ledger, Map<string, Map<string, Rule>>>()

/** Writes the entries of an act in a commit of their own, after that of the act. */
function auditingLater(store: Store): Store {
  return {
    durability: store.durability,
    blobs: store.blobs,
    ask: (question) => store.ask(question),
    async write<Answer>(plan: Plan<Answer>): Promise<Answer> {
      let late: readonly Change[] = []
      const answer = await store.write<Answer>(function* () {
        const verdict = yield* plan()
        const acts = verdict.changes.filter((change) => !isAudit(change))
        late = acts.length === 0 ? [] : verdict.changes.filter(isAudit)
        return acts.length === 0 ? verdict : { ...verdict, changes: acts }
      })
      if (late.length > 0)
        await store.write<void>(function* () {
          yield []
          return { answer: undefined, changes: late }
        })
      return answer
    },
    onCommit: (listener) => store.onCommit(listener),
    close: () => store.close(),
  }
}

/** The loss of its holder gives the uses of a process back, as if it had not begun. */
function givingUsesBack<Answer>(plan: Plan<Answer>, { ledger }: Planting): Plan<Answer> {
  return function* (): Steps<Answer> {
    const verdict = yield* plan()
    const more: Change[] = []
    for (const change of verdict.changes) {
      if (change.type !== 'process') continue
      const { pid } = change.row.record
      if (
        !change.events.some(
          ({ type, replayKey }) => type === 'holder_lost' || replayKey?.startsWith('abandon:'),
        )
      )
        continue
      for (const id of ledger.uses.get(pid) ?? []) {
        const was = yield* know({ ask: 'ruleUse', id })
        if (was !== null) more.push({ type: 'rule_use', was, use: { ...was, used: was.used - 1 } })
      }
    }
    return { ...verdict, changes: [...verdict.changes, ...more] }
  }
}

function isAudit({ type }: Change): boolean {
  return type === 'audit' || type === 'audit_window'
}
