import type { AuditAnchor, AuditStart } from '../../core/audit/chain.ts'
import type { AuditEntry } from '../../core/audit/entry.ts'
import { chained } from '../chain-hash.ts'
import type { AuditStatements } from './statements/audit.ts'

/** Appends to the audit. A transaction reads the end of the chain at most once, and writes it once. */
export class AuditChain {
  readonly #statements: AuditStatements
  /** As the last commit left it; undefined if another connection may have appended. */
  #known: AuditAnchor | undefined
  /** As the open transaction has it; undefined if it appends nothing. */
  #end: AuditAnchor | undefined

  constructor(statements: AuditStatements) {
    this.#statements = statements
  }

  append(entry: AuditEntry): void {
    const appended = chained(this.#end ?? this.#known ?? this.#statements.tail(), entry)
    this.#statements.append(appended)
    this.#end = { position: appended.position, hash: appended.hash }
  }

  prune(start: AuditStart): void {
    this.#statements.prune(start)
  }

  begin(): void {
    this.#end = undefined
  }

  write(): void {
    if (this.#end !== undefined) this.#statements.putEnd(this.#end)
  }

  commit(): void {
    this.#known = this.#end ?? this.#known
    this.#end = undefined
  }

  forget(): void {
    this.#known = undefined
    this.#end = undefined
  }
}
