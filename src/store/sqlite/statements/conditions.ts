import type { SQLInputValue } from 'node:sqlite'
import type { Visibility } from '../../../core/authority/visibility.ts'

/** A part of a `where` clause with its values. */
export interface Condition {
  readonly where: string
  readonly values: readonly SQLInputValue[]
}

/** Whether a grant makes a process visible to a session. */
export const GRANTED =
  'exists (select 1 from visible where visible.session = ? and visible.pid = process.pid)'

/** Whether a process belongs to a session below another one. */
export const BELOW =
  'exists (select 1 from below_session where below_session.process = process.id and below_session.session = ?)'

/** Selects the visible rows among the few that an index has found. */
export function visibleRows(visibleTo: Visibility | undefined): Condition {
  if (visibleTo === undefined || visibleTo.type === 'all') return plain('true')
  if (visibleTo.type === 'none') return plain('false')
  if (visibleTo.type === 'process')
    return { where: '(process.pid = ? or process.parent = ?)', values: [visibleTo.pid, visibleTo.pid] }
  const { session } = visibleTo
  return {
    where: `(process.session = ? or ${BELOW} or ${GRANTED})`,
    values: [session, session, session],
  }
}

export function plain(where: string): Condition {
  return { where, values: [] }
}

export function marks(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ')
}
