import type { RegistrationRequest } from '../../../src/core/process/register.ts'
import type { Registered } from '../../../src/kernel/register.ts'
import type { World } from '../world.ts'
import type { Request } from './intent.ts'
import { someRequest } from './requests.ts'

/** Few enough that requests repeat them. */
const GIVEN = ['p_000000000001', 'p_000000000002', 'p_000000000003', 'p_000000000004'] as const

export const registrations: readonly Request[] = [
  {
    name: 'register',
    weight: 10,
    ask(world, peer, track) {
      const request = someRequest(world)
      track(said(request), peer.kernel.register([{ request, actor: 'host' }]), checked(world, [request]))
    },
  },
  {
    name: 'register a given pid',
    weight: 3,
    ask(world, peer, track) {
      const { random } = world.stage
      const pid = random.pick(GIVEN)
      const request = again(world, pid)
      track(
        `${pid} ${said(request)}`,
        peer.kernel.register([{ request, actor: 'host', pid }]),
        checked(world, [request], pid),
      )
    },
  },
  {
    name: 'register with a key',
    weight: 2,
    ask(world, peer, track) {
      const idempotencyKey = `key ${world.stage.random.between(1, 4)}`
      const request = again(world, idempotencyKey)
      const pid = peer.kernel.edges.pidOf(`host ${idempotencyKey}`)
      track(
        `${idempotencyKey} ${said(request)}`,
        peer.kernel.register([{ request, actor: 'host', idempotencyKey }]),
        checked(world, [request], pid),
      )
    },
  },
  {
    name: 'register many',
    weight: 2,
    ask(world, peer, track) {
      const requests = Array.from({ length: world.stage.random.between(2, 4) }, () => someRequest(world))
      const registering = requests.map((request) => ({ request, actor: 'host' as const }))
      track(`${requests.length}`, peer.kernel.register(registering), checked(world, requests))
    },
  },
  {
    name: 'register and stop at once',
    weight: 1,
    ask(world, peer) {
      const request = someRequest(world)
      const pid = peer.kernel.edges.newPid()
      const asked = { pid, actor: 'host', at: peer.clock.now() } as const
      const how = world.stage.random.pick(['cancel', 'kill'] as const)
      world.track(
        'register',
        peer,
        `${pid} ${said(request)}`,
        peer.kernel.register([{ request, actor: 'host', pid }]),
      )
      world.track(
        how,
        peer,
        pid,
        peer.kernel.perform({
          ...asked,
          type: 'stop',
          how,
          reason: 'at once',
          cause: null,
          replayKey: 'at once',
        }),
      )
    },
  },
]

/** Usually the first request with this key, which is no conflict. */
function again(world: World, key: string): RegistrationRequest {
  const known = world.requests.get(key)
  if (known !== undefined && world.stage.random.chance(0.7)) return known
  const request = someRequest(world)
  if (known === undefined) world.requests.set(key, request)
  return request
}

/** Checks that an acknowledged process is in the log, and was made from the request. */
function checked(world: World, requests: readonly RegistrationRequest[], pid?: string) {
  const { stage, ledger } = world
  return (registered: readonly Registered[]) => {
    for (const [index, one] of registered.entries()) {
      if (one.type === 'refused') continue
      const found = one.row.record.pid
      const entry = ledger.entry(found)
      if (entry === undefined || (pid !== undefined && found !== pid))
        stage.violated('no lost acknowledged write', `${found} was registered, and is not there`)
      else if (entry.record.kind !== requests[index]?.kind)
        stage.violated('registration is idempotent by content', `${found} is not what was asked for`)
    }
  }
}

function said({ kind, parent, lifetime, recovery }: RegistrationRequest): string {
  return [kind, recovery, parent && `under ${parent}`, lifetime && `for ${lifetime}`]
    .filter(Boolean)
    .join(' ')
}
