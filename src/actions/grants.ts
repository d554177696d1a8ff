import { traceIn } from '../core/audit/trace.ts'
import { grant } from '../kernel/grants.ts'
import type { CallOptions } from '../verbs/reeve.ts'
import { type ActionParts, type ActionsFor, finderFor, permitOnSession } from './action.ts'
import { checkJson } from './parse.ts'

/** Which processes a session sees besides its own. */
export function grantActions(
  parts: ActionParts,
): ActionsFor<'grant' | 'revoke' | 'transferGrants' | 'grants'> {
  const { kernel, actor, masker } = parts
  const { edges } = kernel
  const find = finderFor(parts)
  /** A reason is a text of the caller, and may hold a secret. */
  const contextOf = (reason: string | undefined, { trace }: CallOptions) => ({
    reason: reason === undefined ? null : masker.text(reason),
    trace: traceIn(trace),
  })
  const findAll = (texts: readonly string[]) => Promise.all(texts.map(find))
  return {
    grant: async ({ session, pids, descriptor, reason }, call) => ({
      grants: await grant(
        edges,
        actor,
        session,
        await findAll(pids),
        checkJson(descriptor ?? null, 'descriptor'),
        contextOf(reason, call),
      ),
    }),
    revoke: async ({ session, pids, reason }, call) => ({
      revoked: await kernel.sessions.revoke(actor, session, await findAll(pids), contextOf(reason, call)),
    }),
    transferGrants: async ({ from, to, pids, reason }, call) => ({
      grants: await kernel.sessions.transferGrants(
        actor,
        from,
        to,
        await findAll(pids),
        contextOf(reason, call),
      ),
    }),
    async grants({ session }) {
      await permitOnSession(parts, session)
      return { grants: [...(await edges.store.ask({ ask: 'grants', session }))] }
    },
  }
}
