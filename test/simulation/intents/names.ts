import type { RegistrationRequest } from '../../../src/core/process/register.ts'
import { KEPT_NAME } from '../checks/names.ts'
import type { Request } from './intent.ts'
import { EVENT_TYPES, someOwner } from './requests.ts'

/** Used in separate runs: in all runs they would shift the seeds that find planted bugs. */
export const namedRegistrations: readonly Request[] = [
  {
    name: 'register unless it runs',
    weight: 10,
    ask(world, peer, track) {
      const { random } = world.stage
      const owner = random.maybe(0.3, () => someOwner(world))
      const request: RegistrationRequest = {
        kind: 'external',
        spec: {},
        eventTypes: EVENT_TYPES,
        name: KEPT_NAME,
        ...(owner === undefined ? {} : { owner }),
        ifRunning: random.pick(['keep', 'keep', 'replace'] as const),
      }
      track(
        `${request.ifRunning} ${owner?.session ?? ''}`,
        peer.kernel.register([{ request, actor: 'host' }]),
      )
    },
  },
]
