import type { ClientRequest } from 'node:http'
import { ReeveError } from '../core/errors.ts'

/** The connection could not be made, or was cut. `details.sent`: the daemon may have heard the request. */
export function brokenWith(error: Error, shown: string, neverSent: boolean): ReeveError {
  const { code } = error as NodeJS.ErrnoException
  const message = neverSent
    ? code === 'EACCES'
      ? `The daemon at ${shown} belongs to another user.`
      : `No daemon answers at ${shown}.`
    : `The daemon at ${shown} went away during the call.`
  const remedy = neverSent
    ? 'Start one with reeve up, or say where it is with REEVE_HOME.'
    : 'Look whether it was done, then try again.'
  return new ReeveError('daemon_unreachable', message, remedy, {
    cause: error,
    details: { sent: !neverSent, ...(code === undefined ? {} : { reason: code }) },
  })
}

/** A connection that was refused carried nothing, so whatever was asked can be asked again. */
export function wasNeverSent(error: Error, request: ClientRequest): boolean {
  const { code, syscall } = error as NodeJS.ErrnoException
  return syscall === 'connect' || code === 'ECONNREFUSED' || code === 'ENOENT' || request.socket === null
}

/**
 * A reused connection that the daemon closed before it read the request: EPIPE is the write that failed, and a reset that was
 * read means that the daemon left bytes of the request unread. A daemon that dies after it read them closes in order.
 */
export function foundClosed(error: Error, request: ClientRequest): boolean {
  const { code, syscall } = error as NodeJS.ErrnoException
  return request.reusedSocket && (code === 'EPIPE' || (code === 'ECONNRESET' && syscall === 'read'))
}

export function isBroken(error: unknown): error is ReeveError {
  return error instanceof ReeveError && error.code === 'daemon_unreachable'
}

export function mayBeSent(error: ReeveError): boolean {
  return error.details['sent'] !== false
}
