import { createHash } from 'node:crypto'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { StoredEvent } from '../../src/core/process/event.ts'
import type { Pid } from '../../src/core/process/pid.ts'
import type { AnswerTo, Question } from '../../src/store/contract.ts'
import { Tables } from '../../src/store/sqlite/tables.ts'

const ALL = 1_000_000

/** Reads the file over a separate connection that never writes: it sees committed data only. */
export class Observer {
  readonly #db: DatabaseSync
  readonly #tables: Tables
  readonly #statements = new Map<string, StatementSync>()

  constructor(file: string) {
    this.#db = new DatabaseSync(file)
    this.#tables = new Tables(this.#db, file, () => 0)
  }

  close(): void {
    this.#db.close()
  }

  ask<Q extends Question>(question: Q): AnswerTo<Q> {
    return this.#tables.answer(question) as AnswerTo<Q>
  }

  eventsAfter(position: number): readonly StoredEvent[] {
    return this.ask({ ask: 'changes', after: position, limit: ALL }).events
  }

  eventsOf(pid: Pid): readonly StoredEvent[] {
    return this.ask({ ask: 'events', pid, after: 0, limit: ALL })
  }

  /** Counts rows of tables that no question lists. */
  count(table: string): number {
    return Number(this.#prepared(`select count(*) as count from ${table}`).get()?.['count'])
  }

  /** The indexed columns beside the record. */
  columns(pid: Pid): Readonly<Record<string, unknown>> {
    return { ...this.#prepared('select * from process where pid = ?').get(pid) }
  }

  /** The hash of everything in the file except the store's random secret. */
  digest(): string {
    const hash = createHash('sha256')
    const tables = this.#db.prepare(`select name from sqlite_master where type = 'table' order by name`).all()
    for (const { name } of tables) {
      const rows = this.#db.prepare(`select * from ${String(name)}`).all()
      hash.update(JSON.stringify(rows.map(({ secret: _secret, ...row }) => row)))
    }
    return hash.digest('hex')
  }

  #prepared(sql: string): StatementSync {
    const statement = this.#statements.get(sql) ?? this.#db.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }
}
