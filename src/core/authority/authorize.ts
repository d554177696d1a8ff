import type { Actor, Owner, ProcessRecord } from '../process/record.ts'
import { type Refusal, refusal } from '../refusal.ts'
import { isOwn, isVisible, visibilityOf } from './visibility.ts'

export type Right = 'read' | 'write' | 'execute' | 'signal' | 'grant' | 'admin'

type Resource =
  | { readonly type: 'process'; readonly record: ProcessRecord; readonly granted?: boolean }
  | { readonly type: 'registration'; readonly owner: Owner; readonly parent: ProcessRecord | null }
  | { readonly type: 'session'; readonly id: string }
  | { readonly type: 'store' }

/** The one seam that every intent passes. Says why not, or nothing. */
export type Authorize = (subject: Actor, right: Right, resource: Resource) => Refusal | undefined

/**
 * Each to their own: the host and the kernel may do everything, a session what belongs to it, a process itself and
 * its children. A grant shows, and gives nothing else.
 */
export const ownerPolicy: Authorize = (subject, right, resource) => {
  if (visibilityOf(subject).type === 'all') return undefined
  if (ownedBy(subject, right, resource)) return undefined
  return refusal(
    'denied',
    `${subject} may not ${right} ${nameOf(resource)}.`,
    'Ask its owner, or act as the host.',
    { subject, right },
  )
}

function ownedBy(subject: Actor, right: Right, resource: Resource): boolean {
  const visibility = visibilityOf(subject)
  switch (resource.type) {
    case 'process':
      return right === 'read'
        ? isVisible(resource.record, visibility, resource.granted === true)
        : isOwn(resource.record, visibility)
    case 'registration': {
      const { owner, parent } = resource
      if (parent === null) return owner.session !== undefined && subject === `session:${owner.session}`
      // Knowing a pid is no right to put children below it, nor is a parent a way into another session.
      return isOwn(parent, visibility) && owner.session === parent.owner.session
    }
    case 'session':
      // What limits it is not its own to change.
      return right !== 'admin' && subject === `session:${resource.id}`
    case 'store':
      return false
  }
}

function nameOf(resource: Resource): string {
  switch (resource.type) {
    case 'process':
      return `process ${resource.record.pid}`
    case 'registration':
      return `register a process here`
    case 'session':
      return `session ${resource.id}`
    case 'store':
      return 'the store'
  }
}
