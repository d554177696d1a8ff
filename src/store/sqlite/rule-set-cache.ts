import { BoundedMap } from '../../base/bounded-map.ts'
import type { RuleSet } from '../../core/capability/rule-set.ts'
import type { AuthorityStatements } from './statements/authority.ts'

/** A set of a hundred rules has some 20 KB. */
const MAX_RULE_SETS = 2_000

/**
 * Rule sets in memory, absent ones too, so that a check on known subjects reads and parses nothing. They are valid for one
 * epoch, which commits of other connections may have raised. All methods are for use inside a transaction.
 */
export class RuleSetCache {
  readonly #statements: AuthorityStatements
  /** Of the epoch `#epoch`. */
  readonly #committed = new BoundedMap<string, RuleSet | null>(MAX_RULE_SETS)
  /** As the open transaction has written them. */
  readonly #written = new Map<string, RuleSet | null>()
  /** Undefined if the epoch has to be read again. */
  #epoch: number | undefined
  /** The last epoch that was read: rule sets stay valid if it has not been raised. */
  #cachedEpoch = 0

  constructor(statements: AuthorityStatements) {
    this.#statements = statements
  }

  get(subject: string): RuleSet | null {
    const written = this.#written.get(subject)
    if (written !== undefined) return written
    // Before the first rule set is stored, no query is needed.
    if (this.#currentEpoch() === 0) return null
    const known = this.#committed.get(subject)
    if (known !== undefined) return known
    const found = this.#statements.ruleSet(subject)
    this.#committed.set(subject, found)
    return found
  }

  put(ruleSet: RuleSet): void {
    this.#statements.putRuleSet(ruleSet)
    this.#written.set(ruleSet.subject, ruleSet)
  }

  /** With the uses of their rules. Subjects without a rule set do not raise the epoch. */
  drop(subjects: readonly string[]): void {
    if (this.#currentEpoch() === 0 && this.#written.size === 0) return
    for (const subject of this.#statements.dropRuleSets(subjects)) this.#written.set(subject, null)
  }

  begin(): void {
    this.#written.clear()
  }

  /** Raises the epoch, if the transaction has changed a rule set. */
  write(): void {
    if (this.#written.size > 0) this.#statements.putEpoch(this.#currentEpoch() + 1)
  }

  commit(): void {
    if (this.#written.size === 0) return
    this.#cachedEpoch = this.#currentEpoch() + 1
    this.#epoch = this.#cachedEpoch
    for (const [subject, ruleSet] of this.#written) this.#committed.set(subject, ruleSet)
    this.#written.clear()
  }

  rollBack(): void {
    this.#written.clear()
    // A commit that failed may have happened all the same.
    this.forgetEpoch()
  }

  /** Another connection may have changed rule sets. */
  forgetEpoch(): void {
    this.#epoch = undefined
  }

  /** As the last commit left it. */
  #currentEpoch(): number {
    if (this.#epoch !== undefined) return this.#epoch
    this.#epoch = this.#statements.epoch()
    if (this.#epoch !== this.#cachedEpoch) this.#committed.clear()
    this.#cachedEpoch = this.#epoch
    return this.#epoch
  }
}
