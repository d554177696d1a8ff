import { RefusedError } from '../core/errors.ts'
import type { Json } from '../core/json/json.ts'
import { isRefusal } from '../core/refusal.ts'
import { identify } from '../external/identify.ts'
import { type ActionParts, type ActionsFor, finderFor, permitOrAudit } from './action.ts'
import { sharedName, spawnAnswer } from './spawn.ts'

export function trackActions(parts: ActionParts): ActionsFor<'track'> {
  const { kernel, actor } = parts
  const { edges } = kernel
  const find = finderFor(parts)
  return {
    async track({ osPid, description, pid, idempotencyKey, parent, ...rest }) {
      // Before the PID is looked up: a session must not learn about other OS processes of this machine.
      await permitOrAudit(parts, 'track')
      const above = parent === undefined ? {} : { parent: await find(parent) }
      const identified = identify(osPid, await edges.store.ask({ ask: 'holders' }))
      if (isRefusal(identified)) throw new RefusedError(identified)
      const { tracked, name } = identified
      const sharing = await sharedName(kernel, actor, rest.name)
      const spec = {
        description: description ?? `${name} (PID ${osPid})`,
        process: { ...tracked } satisfies Record<string, Json>,
      }
      const [registered] = await kernel.register([
        {
          request: { kind: 'external', spec, ...rest, ...above },
          actor,
          ...(pid === undefined ? {} : { pid }),
          ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
        },
      ])
      const answer = spawnAnswer(registered)
      return answer.type === 'existing' ? answer : { ...answer, ...sharing }
    },
  }
}
