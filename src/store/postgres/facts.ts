import type { Question } from '../contract.ts'

/** What is known under a key. Version 0: it is known not to be there. Facts that no commit compares have none. */
export interface Fact {
  readonly version: number
  readonly value: unknown
}

export const ABSENT: Fact = { version: 0, value: null }

/** Rows kept in memory so that a busy process is not read anew for every event. */
const CACHE_ROWS = 10_000

/**
 * What plans are decided on: rows this store has read or written before, which may be stale, because the commit will
 * compare them; and what was loaded for the batch at hand, which goes with it.
 */
export class Facts {
  readonly #cache = new Map<string, Fact>()
  readonly #loaded = new Map<string, Fact>()

  get(key: string): Fact | undefined {
    return this.#loaded.get(key) ?? this.#cache.get(key)
  }

  /** For this batch alone. */
  load(key: string, fact: Fact): void {
    this.#loaded.set(key, fact)
  }

  /** For as long as there is room: what never changes, or is compared. */
  remember(key: string, fact: Fact): void {
    this.#loaded.delete(key)
    this.#cache.delete(key)
    this.#cache.set(key, fact)
    if (this.#cache.size <= CACHE_ROWS) return
    const oldest = this.#cache.keys().next().value
    if (oldest !== undefined) this.#cache.delete(oldest)
  }

  forget(keys: Iterable<string>): void {
    for (const key of keys) this.#cache.delete(key)
  }

  forgetLoaded(): void {
    this.#loaded.clear()
  }
}

/** One text per question, the same for the same.  */
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
    case 'event':
      return eventKey(question.pid, question.replayKey)
    default:
      return JSON.stringify(question)
  }
}

export const processKey = (pid: string): string => `process:${pid}`
export const sessionKey = (id: string): string => `session:${id}`
export const turnKey = (session: string, id: string): string => `turn:${JSON.stringify([session, id])}`
export const groupKey = (id: string): string => `group:${id}`
export const inboxKey = (scope: string): string => `inbox:${scope}`
export const accountKey = (id: string): string => `account:${id}`
export const eventKey = (pid: string, replayKey: string): string => `event:${pid}:${replayKey}`
