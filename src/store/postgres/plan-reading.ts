import { StoreError } from '../../core/errors.ts'
import type { Question } from '../contract.ts'
import { eventKey, type Facts, keyOf } from './facts.ts'
import type { Staged } from './staged.ts'
import type { Guard } from './staged-row.ts'

/** The answer is unknown, and has to be loaded. */
export const MISSING = Symbol('missing')
/** The answer depends on changes that are not committed yet: the plan has to wait for the next batch. */
export const LATER = Symbol('later')

/** Answers the questions of one plan from staged changes and facts, and records the rows that the answers depend on. */
export class PlanReading {
  /** Rows that the plan has read, which the commit has to compare. */
  readonly guards = new Map<string, Guard>()
  /** Questions that were answered with "absent" without a look. */
  readonly assumed = new Map<string, Question>()
  /** Whether the plan has read a rule set, so that the commit has to compare the epoch. */
  hasReadRules = false
  readonly #staged: Staged
  readonly #facts: Facts

  constructor(staged: Staged, facts: Facts) {
    this.#staged = staged
    this.#facts = facts
  }

  answer(question: Question): unknown {
    const staged = this.#staged
    switch (question.ask) {
      case 'process': {
        if (staged.tombstones.has(question.pid)) return null
        const row = staged.processes.get(question.pid)
        if (row !== undefined) return row.value
        const isKnown = this.#facts.get(keyOf(question)) !== undefined
        return isKnown ? this.#compared(question) : this.#assume(question)
      }
      case 'session':
        return this.#stagedOrCompared(staged.sessions, question)
      case 'turn':
        return this.#stagedOrCompared(staged.turns, question)
      case 'group':
        return this.#stagedOrCompared(staged.groups, question)
      case 'inbox':
        return this.#stagedOrCompared(staged.inboxes, question)
      case 'account':
        return this.#stagedOrCompared(staged.accounts, question)
      case 'schedule':
        return this.#stagedOrCompared(staged.schedules, question)
      case 'liens':
        return this.#stagedOrCompared(staged.liens, question)
      case 'revocation':
        return this.#stagedOrCompared(staged.revocations, question)
      case 'trigger':
        return this.#stagedOrCompared(staged.triggers, question)
      case 'delivery':
        return this.#stagedOrCompared(staged.deliveries, question)
      case 'approval':
        return this.#stagedOrCompared(staged.approvals, question)
      case 'ruleUse':
        return this.#stagedOrCompared(staged.ruleUses, question)
      case 'auditWindow':
        return this.#stagedOrCompared(staged.auditWindows, question)
      case 'ruleSet':
        return this.#ruleSet(question.subject)
      case 'tombstone':
        return staged.tombstones.get(question.pid) ?? this.#assume(question)
      case 'environment':
        return staged.environments.get(question.ref) ?? this.#compared(question)
      case 'event':
        return this.#event(question)
      case 'eventAt': {
        const row = staged.processes.get(question.pid)
        const isStaged = row !== undefined && question.seq > (row.base?.record.revision ?? 0)
        return isStaged ? LATER : this.#known(question)
      }
      case 'objectEvent':
      case 'objectEvents':
      case 'objectVersions': {
        // Up to an event that is committed, the answer never changes.
        const row = staged.processes.get(question.pid)
        const isStaged = row !== undefined && question.through > (row.base?.record.revision ?? 0)
        return isStaged ? LATER : this.#known(question)
      }
      case 'holder':
        return staged.holders.has(question.id) ? LATER : this.#compared(question)
      case 'announced':
        return staged.holders.has(question.id)
          ? staged.holders.get(question.id) !== null
          : this.#compared(question)
      case 'secret':
        return this.#known(question)
      default:
        // Only the database answers lists, and it does not see staged changes.
        return staged.changed ? LATER : this.#known(question)
    }
  }

  #stagedOrCompared(
    rows: ReadonlyMap<string, { readonly value: unknown }>,
    question: Guard['question'],
  ): unknown {
    const row = rows.get(keyOf(question))
    return row === undefined ? this.#compared(question) : row.value
  }

  #compared(question: Guard['question']): unknown {
    const key = keyOf(question)
    const fact = this.#facts.get(key)
    if (fact === undefined) return MISSING
    // The record cannot be read: only the plan that needs it fails.
    if (fact.value instanceof StoreError) throw fact.value
    this.guards.set(key, { question, version: fact.version })
    return fact.value
  }

  #ruleSet(subject: string): unknown {
    const staged = this.#staged.ruleSets.get(subject)
    const ruleSet = staged === undefined ? this.#facts.ruleSets.get(subject) : staged.value
    if (ruleSet === undefined) return MISSING
    this.hasReadRules = true
    return ruleSet
  }

  #known(question: Question): unknown {
    const fact = this.#facts.get(keyOf(question))
    return fact === undefined ? MISSING : fact.value
  }

  #event(question: Extract<Question, { ask: 'event' }>): unknown {
    const { pid, replayKey } = question
    // An event has no position before it is committed.
    if (this.#staged.hasEvent(eventKey(pid, replayKey))) return LATER
    if (this.#staged.processes.get(pid)?.version === 0) return null
    return this.#assume(question)
  }

  /**
   * Absent, unless known otherwise. If the plan then writes it, no look is needed: the commit finds out. If it does not, the
   * plan has at least asked its other questions, so that all of them are loaded at once.
   */
  #assume(question: Question): unknown {
    const key = keyOf(question)
    const fact = this.#facts.get(key)
    if (fact !== undefined) return fact.value
    this.assumed.set(key, question)
    return null
  }
}
