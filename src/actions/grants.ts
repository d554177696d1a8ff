import { grant } from '../kernel/grants.ts'
import { type ActionParts, type ActionsFor, finderFor, permitOnSession } from './action.ts'
import { checkJson } from './parse.ts'

/** Which processes a session sees besides its own. */
export function grantActions(
  parts: ActionParts,
): ActionsFor<'grant' | 'revoke' | 'transferGrants' | 'grants'> {
  const { kernel, actor } = parts
  const { edges } = kernel
  const find = finderFor(parts)
  const findAll = (texts: readonly string[]) => Promise.all(texts.map(find))
  return {
    grant: async ({ session, pids, descriptor }) => ({
      grants: await grant(
        edges,
        actor,
        session,
        await findAll(pids),
        checkJson(descriptor ?? null, 'descriptor'),
      ),
    }),
    revoke: async ({ session, pids }) => ({
      revoked: await kernel.sessions.revoke(actor, session, await findAll(pids)),
    }),
    transferGrants: async ({ from, to, pids }) => ({
      grants: await kernel.sessions.transferGrants(actor, from, to, await findAll(pids)),
    }),
    async grants({ session }) {
      permitOnSession(parts, session)
      return { grants: [...(await edges.store.ask({ ask: 'grants', session }))] }
    },
  }
}
