import type { RuleSet } from '../../core/capability/rule-set.ts'

/** A set of a hundred rules has some 20 KB. */
const MAX_RULE_SETS = 2_000

/**
 * Rule sets that this store has read or written, absent ones too, as they were in one epoch. They may be stale: the commit
 * compares the epoch.
 */
export class RuleSetFacts {
  /** Null if it has to be read. */
  #epoch: number | null = null
  readonly #bySubject = new Map<string, RuleSet | null>()

  get epoch(): number | null {
    return this.#epoch
  }

  /** Undefined if it is unknown. Before the first rule set is stored, no subject has one. */
  get(subject: string): RuleSet | null | undefined {
    return this.#epoch === 0 ? null : this.#bySubject.get(subject)
  }

  /** The epoch as the store found it when it was opened. */
  begin(epoch: number): void {
    this.#epoch ??= epoch
  }

  /** From one read of the epoch and of rule sets. */
  learn(epoch: number, subject: string, ruleSet: RuleSet | null): void {
    if (epoch !== this.#epoch) this.#bySubject.clear()
    this.#epoch = epoch
    this.#bySubject.set(subject, ruleSet)
  }

  /** After a commit that compared the epoch and raised it: the rule sets that it did not change are still true. */
  raise(changed: Iterable<readonly [subject: string, ruleSet: RuleSet | null]>): void {
    if (this.#epoch === null) return
    this.#epoch += 1
    for (const [subject, ruleSet] of changed) this.#bySubject.set(subject, ruleSet)
  }

  forget(): void {
    this.#epoch = null
    this.#bySubject.clear()
  }

  /** Between batches: during one, rule sets must stay, or a large batch would load them again and again. */
  trim(): void {
    for (const subject of this.#bySubject.keys()) {
      if (this.#bySubject.size <= MAX_RULE_SETS) return
      this.#bySubject.delete(subject)
    }
  }
}
