import { RefusedError } from '../core/errors.ts'
import type { Json } from '../core/json/json.ts'
import type { Actor } from '../core/process/record.ts'
import { isRefusal } from '../core/refusal.ts'
import { identify } from '../external/identify.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { resolve } from '../kernel/resolve.ts'
import type { ActsFor } from './action.ts'
import { sharedName, spawnAnswer } from './spawn.ts'

export function trackActs(kernel: Kernel, actor: Actor): ActsFor<'track'> {
  const { edges } = kernel
  return {
    async track({ osPid, description, pid, idempotencyKey, parent, ...rest }) {
      // Before the PID is looked at: what runs here is nothing that a session may find out.
      const denied = edges.authorize(actor, 'admin', { type: 'store' })
      if (denied !== undefined) throw new RefusedError(denied)
      const above = parent === undefined ? {} : { parent: await resolve(edges, actor, parent) }
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
