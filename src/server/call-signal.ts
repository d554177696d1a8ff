import type { Context } from 'hono'
import type { Env } from './app.ts'

/** Aborted when the caller disconnects, or its token is revoked. */
export function callSignal(context: Context<Env>): AbortSignal {
  const { signal } = context.req.raw
  const revoked = context.get('revoked')
  return revoked === undefined ? signal : AbortSignal.any([signal, revoked])
}
