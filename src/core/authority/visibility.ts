import type { Pid } from '../process/pid.ts'
import type { Actor, ProcessRecord } from '../process/record.ts'

/** The processes that an actor may read, as data: a store puts it into its query, so that pages are full. */
export type Visibility =
  | { readonly type: 'all' }
  /** Processes that the session or one below it owns, and those granted to it. */
  | { readonly type: 'session'; readonly session: string }
  /** Itself and its children. */
  | { readonly type: 'process'; readonly pid: Pid }
  | { readonly type: 'none' }

export function visibilityOf(actor: Actor): Visibility {
  if (actor.startsWith('session:')) return { type: 'session', session: actor.slice('session:'.length) }
  if (actor.startsWith('process:')) return { type: 'process', pid: actor.slice('process:'.length) }
  if (actor === 'host' || actor.startsWith('kernel:') || actor.startsWith('human:')) return { type: 'all' }
  return { type: 'none' }
}

/** The whole meaning of a visibility. `isGranted`: a grant makes the process visible to the actor's session. */
export function isVisible(record: ProcessRecord, visibility: Visibility, isGranted: boolean): boolean {
  return isOwn(record, visibility) || (visibility.type === 'session' && isGranted)
}

/** Whether an actor may read it without a grant. Only on such processes may it also act. */
export function isOwn(record: ProcessRecord, visibility: Visibility): boolean {
  switch (visibility.type) {
    case 'all':
      return true
    case 'session':
      return (
        record.owner.session === visibility.session ||
        record.sessionsAbove?.includes(visibility.session) === true
      )
    case 'process':
      return record.pid === visibility.pid || record.parent === visibility.pid
    case 'none':
      return false
  }
}
