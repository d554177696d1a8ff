import type { ClientRequest } from 'node:http'
import { ReeveError } from '../core/errors.ts'

/** The connection could not be made, or broke. `details.sent`: the daemon may have received the request. */
export function brokenWith(error: Error, shown: string, neverSent: boolean): ReeveError {
  const { code } = error as NodeJS.ErrnoException
  const { message, remedy } = neverSent
    ? unreached(code, shown)
    : {
        message: `The daemon at ${shown} went away during the call.`,
        remedy: 'Check whether the call took effect, then try again.',
      }
  return new ReeveError('daemon_unreachable', message, remedy, {
    cause: error,
    details: { sent: !neverSent, ...(code === undefined ? {} : { reason: code }) },
  })
}

function unreached(
  code: string | undefined,
  shown: string,
): { readonly message: string; readonly remedy: string } {
  if (code !== undefined && UNRESOLVED.has(code))
    return {
      message: `The host of ${shown} cannot be resolved (${code}).`,
      remedy: 'Check the address of the daemon (--url, REEVE_URL), and the name server of this machine.',
    }
  return {
    message:
      code === 'EACCES'
        ? `The daemon at ${shown} belongs to another user.`
        : `No daemon answers at ${shown}.`,
    remedy: 'Start one with reeve up, or say where it is with REEVE_HOME.',
  }
}

/** Error codes of a failed lookup of a host name. */
const UNRESOLVED: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_NODATA', 'EAI_FAIL'])

/** A refused connection carried no request, so any call may be repeated. */
export function wasNeverSent(error: Error, request: ClientRequest): boolean {
  const { code } = error as NodeJS.ErrnoException
  return wasNeverConnected(error) || code === 'ECONNREFUSED' || code === 'ENOENT' || request.socket === null
}

/** The host was not found, or the connection was not made. */
export function wasNeverConnected(error: Error): boolean {
  const { code, syscall } = error as NodeJS.ErrnoException
  return syscall === 'connect' || syscall === 'getaddrinfo' || (code !== undefined && UNRESOLVED.has(code))
}

/**
 * A reused connection that the daemon closed before it read the request: EPIPE is the write that failed, and a reset that was
 * read means that the daemon left bytes of the request unread. A daemon that dies after reading them closes in order. This holds
 * on one machine only.
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
