import type { DatabaseSync, StatementSync } from 'node:sqlite'

const MAX_STATEMENTS = 100

/** Prepares a query whose text depends on the question. Questions have a few shapes: each is prepared once. */
export function statementCache(db: DatabaseSync): (sql: string) => StatementSync {
  const statements = new Map<string, StatementSync>()
  return (sql) => {
    const statement = statements.get(sql) ?? db.prepare(sql)
    if (statements.size >= MAX_STATEMENTS) statements.clear()
    statements.set(sql, statement)
    return statement
  }
}
