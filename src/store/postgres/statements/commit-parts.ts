import type { StagedRow } from '../staged-row.ts'

/** Lists of rows as JSON; null if all are empty. Empty ones are left out. */
export function filledText(parts: { readonly [name: string]: readonly unknown[] }): string | null {
  const filled = Object.entries(parts).filter(([, rows]) => rows.length > 0)
  return filled.length === 0 ? null : JSON.stringify(Object.fromEntries(filled))
}

/** Rows that are new or changed, each with its version before and after, its columns and its body. */
export function versioned<Value extends object>(
  rows: ReadonlyMap<string, StagedRow<Value | null>>,
  columns: (value: Value) => object,
): readonly object[] {
  return [...rows.values()].flatMap(({ value, version, next }) =>
    value === null ? [] : [{ ...columns(value), version, next, body: JSON.stringify(value) }],
  )
}

/** Rows that exist, and that the commit removes. */
export function removed<Value>(
  rows: ReadonlyMap<string, Pick<StagedRow<Value | null>, 'base' | 'value'>>,
): readonly Value[] {
  return [...rows.values()].flatMap(({ base, value }) => (value === null && base !== null ? [base] : []))
}
