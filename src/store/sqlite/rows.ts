import type { SQLInputValue, StatementSync } from 'node:sqlite'

/** The row of a query; the caller declares the columns, as the query selects them. */
export function getRow<Row extends object>(
  statement: StatementSync,
  ...values: readonly SQLInputValue[]
): Row | undefined {
  return statement.get(...values) as Row | undefined
}

/** The rows of a query; the caller declares the columns, as the query selects them. */
export function allRows<Row extends object>(
  statement: StatementSync,
  ...values: readonly SQLInputValue[]
): Row[] {
  return statement.all(...values) as Row[]
}

/** The rows of a query, one at a time; the caller declares the columns, as the query selects them. */
export function eachRow<Row extends object>(
  statement: StatementSync,
  ...values: readonly SQLInputValue[]
): Iterable<Row> {
  return statement.iterate(...values) as Iterable<Row>
}
