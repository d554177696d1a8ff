import { RefusedError } from '../core/errors.ts'
import { refusal } from '../core/refusal.ts'
import { putEnvironment } from '../kernel/environments.ts'
import { type ActionParts, type ActionsFor, permitOnStore, permitOrAudit } from './action.ts'
import { served } from './command-in.ts'

export function environmentActions(
  parts: ActionParts,
): ActionsFor<'putEnvironment' | 'environment' | 'refreshEnvironment'> {
  const { kernel, actor, commands } = parts
  return {
    async putEnvironment(environment) {
      return { envRef: await putEnvironment(kernel.edges, actor, environment) }
    },
    async environment({ envRef }) {
      permitOnStore(parts, 'read')
      const environment = await kernel.edges.store.ask({ ask: 'environment', ref: envRef })
      if (environment === null)
        throw new RefusedError(
          refusal('environment_unknown', `There is no environment ${envRef}.`, 'Store it first.'),
        )
      return environment
    },
    async refreshEnvironment() {
      await permitOrAudit(parts, 'refreshEnvironment', 'write')
      await served(commands).refreshEnvironment()
      return {}
    },
  }
}
