import { agentSessionOf, isInOwnSession } from '../agent/session.ts'
import type { Right } from '../capability/right.ts'
import type { Actor, Owner, ProcessRecord } from '../process/record.ts'
import { type Refusal, refusal } from '../refusal.ts'
import { sessionsOf } from '../session/sessions-above.ts'
import { type MessageRoute, mayMessage } from './may-message.ts'
import { isOwn, isVisible, visibilityOf } from './visibility.ts'

type Resource =
  | { readonly type: 'process'; readonly record: ProcessRecord; readonly granted?: boolean }
  | {
      readonly type: 'registration'
      readonly owner: Owner
      /** The sessions above that of the owner. */
      readonly sessionsAbove?: readonly string[]
      readonly parent: ProcessRecord | null
    }
  | { readonly type: 'message'; readonly route: MessageRoute }
  | { readonly type: 'session'; readonly id: string; readonly sessionsAbove?: readonly string[] }
  | { readonly type: 'store' }

/** The one check that every intent passes. Returns the refusal, or undefined. */
export type Authorize = (subject: Actor, right: Right, resource: Resource) => Refusal | undefined

/**
 * Each actor acts on its own processes: the host and the kernel may do everything, a session acts on its processes and those of
 * the sessions below it, a process on itself and its children. A grant gives visibility and nothing else.
 */
export const ownerPolicy: Authorize = (subject, right, resource) => {
  if (visibilityOf(subject).type === 'all') return undefined
  if (ownedBy(subject, right, resource)) return undefined
  return refusal(
    'denied',
    `${subject} may not ${resource.type === 'message' ? 'send a message to' : right} ${nameOf(resource)}.`,
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
      const sessions = sessionsOf(resource)
      if (parent === null) return sessions.some((session) => subject === `session:${session}`)
      // Knowing a pid gives no right to add children to it. A parent leads to its own session and those below it, and to no other.
      const inSession = parent.owner.session
      const isInside = inSession === undefined ? owner.session === undefined : sessions.includes(inSession)
      const isInOwn = isInOwnSession(resource, parent)
      // The session of an agent is that of everything that the agent starts, so it leads below the agent.
      if (isInOwn && subject === `session:${agentSessionOf(parent.pid)}`) return true
      return isOwn(parent, visibility) && (isInside || isInOwn)
    }
    case 'message':
      return mayMessage(subject, resource.route)
    case 'session':
      // A session cannot change its own limits.
      return (
        right !== 'admin' &&
        [resource.id, ...(resource.sessionsAbove ?? [])].some((id) => subject === `session:${id}`)
      )
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
    case 'message':
      return resource.route.to
    case 'session':
      return `session ${resource.id}`
    case 'store':
      return 'the store'
  }
}
