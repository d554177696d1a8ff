import type { Actor, ProcessRecord, Scope } from '../process/record.ts'
import { isOwn, visibilityOf } from './visibility.ts'

/** A message on its way. */
export interface MessageRoute {
  readonly to: Scope
  /** The process that it is for; null if it is for a session or a person. */
  readonly addressee: ProcessRecord | null
  /** The process that sends it; null for every other sender. */
  readonly sender: ProcessRecord | null
}

/** The person at the machine, who also gets the notices of commands that report to no other scope. */
const PERSON: Scope = 'human:host'

/**
 * Whether an actor may send a message there. Ownership allows a process to write to itself, its parent, its children, its session
 * and the person at the machine, and a session to write to its processes. Capabilities that name further addressees are asked here.
 */
export function mayMessage(subject: Actor, { to, addressee, sender }: MessageRoute): boolean {
  if (addressee !== null) return isOwn(addressee, visibilityOf(subject)) || sender?.parent === addressee.pid
  if (sender === null) return false
  return to === PERSON || to === `session:${sender.owner.session ?? ''}`
}
