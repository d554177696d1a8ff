import type { Question } from '../contract.ts'
import { RuleSetFacts } from './rule-set-facts.ts'

/** The cached row of a key. Version 0 stands for a row that is known not to exist. */
export interface Fact {
  readonly version: number
  readonly value: unknown
}

export const ABSENT: Fact = { version: 0, value: null }

/** Stands among stale keys for the epoch of rule sets. */
export const AUTHORITY = 'authority'

/** Rows kept in memory, so that a busy process is not read again for every event. */
const MAX_ROWS = 10_000

/**
 * The facts that plans are decided on: a cache of rows that this store has read or written, which may be stale because the
 * commit compares them; and facts that were loaded for the current batch, which are dropped after it.
 */
export class Facts {
  /** They have no versions: the commit compares the epoch of all of them. */
  readonly ruleSets = new RuleSetFacts()
  readonly #cache = new Map<string, Fact>()
  readonly #loaded = new Map<string, Fact>()

  get(key: string): Fact | undefined {
    return this.#loaded.get(key) ?? this.#cache.get(key)
  }

  /** For the current batch alone. */
  load(key: string, fact: Fact): void {
    this.#loaded.set(key, fact)
  }

  /** Caches a fact that never changes, or that the commit compares. */
  remember(key: string, fact: Fact): void {
    this.#loaded.delete(key)
    this.#cache.delete(key)
    this.#cache.set(key, fact)
    if (this.#cache.size <= MAX_ROWS) return
    const oldest = this.#cache.keys().next().value
    if (oldest !== undefined) this.#cache.delete(oldest)
  }

  forget(keys: Iterable<string>): void {
    for (const key of keys) this.#cache.delete(key)
  }

  /** Facts that turned out stale, and everything that was loaded with them. */
  forgetStale(keys: Iterable<string>): void {
    for (const key of keys) {
      if (key === AUTHORITY) this.ruleSets.forget()
      this.#cache.delete(key)
    }
    this.forgetLoaded()
  }

  forgetLoaded(): void {
    this.#loaded.clear()
  }
}

/** Equal questions have equal keys. */
export function keyOf(question: Question): string {
  switch (question.ask) {
    case 'process':
      return processKey(question.pid)
    case 'session':
      return sessionKey(question.id)
    case 'turn':
      return turnKey(question.session, question.id)
    case 'group':
      return groupKey(question.id)
    case 'tombstone':
      return `tombstone:${question.pid}`
    case 'environment':
      return `environment:${question.ref}`
    case 'holder':
      return `holder:${question.id}`
    case 'announced':
      return `announced:${question.id}`
    case 'inbox':
      return inboxKey(question.scope)
    case 'account':
      return accountKey(question.id)
    case 'schedule':
      return `schedule:${question.id}`
    case 'liens':
      return `liens:${question.host}`
    case 'revocation':
      return `revocation:${question.handle}`
    case 'trigger':
      return `trigger:${question.id}`
    case 'delivery':
      return `delivery:${question.pid}`
    case 'ruleSet':
      return `ruleSet:${question.subject}`
    case 'ruleUse':
      return `ruleUse:${question.id}`
    case 'approval':
      return `approval:${question.id}`
    case 'auditWindow':
      return `auditWindow:${question.key}`
    case 'event':
      return eventKey(question.pid, question.replayKey)
    default:
      return JSON.stringify(question)
  }
}

export const processKey = (pid: string): string => `process:${pid}`
export const sessionKey = (id: string): string => `session:${id}`
const turnKey = (session: string, id: string): string => `turn:${JSON.stringify([session, id])}`
const groupKey = (id: string): string => `group:${id}`
const inboxKey = (scope: string): string => `inbox:${scope}`
const accountKey = (id: string): string => `account:${id}`
export const eventKey = (pid: string, replayKey: string): string => `event:${pid}:${replayKey}`
