import type { Visibility } from '../../../core/authority/visibility.ts'
import type { Value } from '../link.ts'

/** Collects the values of a statement, each with its number. */
export class Values {
  readonly all: Value[] = []

  add(value: Value): string {
    return `$${this.all.push(value)}`
  }
}

/** Selects the visible rows among the few that an index has found. */
export function visibleRows(at: string, visibleTo: Visibility | undefined, values: Values): string {
  if (visibleTo === undefined || visibleTo.type === 'all') return 'true'
  if (visibleTo.type === 'none') return 'false'
  if (visibleTo.type === 'process') {
    const pid = values.add(visibleTo.pid)
    return `(process.pid = ${pid} or process.parent = ${pid})`
  }
  const session = values.add(visibleTo.session)
  return `(process.session = ${session} or ${isBelow(at, session)} or ${isGrantedTo(at, session)})`
}

/** Whether a process belongs to a session below another one. */
export function isBelow(at: string, session: string): string {
  return `exists (select 1 from ${at}below_session as below_session
    where below_session.process = process.id and below_session.session = ${session})`
}

/** Whether a grant makes a process visible to a session. */
export function isGrantedTo(at: string, session: string): string {
  return `exists (select 1 from ${at}visible as visible
    where visible.session = ${session} and visible.pid = process.pid)`
}
