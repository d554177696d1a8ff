import type { AuditAnchor, AuditStart } from '../../core/audit/chain.ts'
import type { AuditEntry } from '../../core/audit/entry.ts'
import { linkTexts } from '../../core/audit/link.ts'
import { chained } from '../chain-hash.ts'
import type { AuditStatements } from './statements/audit.ts'

/**
 * Appends to the audit. A transaction reads the end of the chain at most once. Its entries become few
 * links: one hash and one row for many entries.
 */
export class AuditChain {
  readonly #statements: AuditStatements
  /** Of the open transaction, in order, not yet inserted. */
  readonly #waiting: AuditEntry[] = []
  /** As the last commit left it; undefined if another connection may have appended. */
  #known: AuditAnchor | undefined
  /** As the open transaction has it; undefined if it appends nothing. */
  #end: AuditAnchor | undefined

  constructor(statements: AuditStatements) {
    this.#statements = statements
  }

  append(entry: AuditEntry): void {
    this.#waiting.push(entry)
  }

  prune(start: AuditStart): void {
    this.write()
    this.#statements.prune(start)
  }

  begin(): void {
    this.#waiting.length = 0
    this.#end = undefined
  }

  /** Before the commit, and before a statement reads the audit. */
  write(): void {
    if (this.#waiting.length === 0) return
    let end = this.#end ?? this.#known ?? this.#statements.tail()
    for (const text of linkTexts(this.#waiting)) {
      const link = chained(end, text)
      this.#statements.append(link)
      end = link
    }
    this.#waiting.length = 0
    this.#end = { position: end.position, hash: end.hash }
    this.#statements.putEnd(this.#end)
  }

  commit(): void {
    this.#known = this.#end ?? this.#known
    this.#end = undefined
  }

  forget(): void {
    this.#waiting.length = 0
    this.#known = undefined
    this.#end = undefined
  }
}
