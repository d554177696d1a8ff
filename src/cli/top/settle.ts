import type { Picture } from './picture.ts'
import type { Row } from './rows.ts'

/** Selects a process, if there is any, and scrolls so that its row is visible. */
export function withSelection(picture: Picture, rows: readonly Row[], page: number): Picture {
  const at = selectedIn(rows, picture)
  const last = Math.max(0, rows.length - page)
  const least = Math.max(0, at - page + 1)
  const from = Math.min(Math.max(picture.from, least), at, last)
  return { ...picture, selected: rows[at]?.record.pid ?? null, selectedAt: at, from }
}

export function selectedIn(rows: readonly Row[], { selected, selectedAt }: Picture): number {
  const at = rows.findIndex(({ record }) => record.pid === selected)
  return at === -1 ? Math.min(selectedAt, Math.max(0, rows.length - 1)) : at
}
