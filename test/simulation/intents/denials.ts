import type { Intent } from '../../../src/core/process/intent.ts'
import type { Pid } from '../../../src/core/process/pid.ts'
import type { Actor } from '../../../src/core/process/record.ts'
import type { Peer } from '../peer.ts'
import type { Request } from './intent.ts'
import { EVENT_TYPES, someSession } from './requests.ts'

/** More than an actor may be denied before further denials are only counted. */
const MANY = 110

/** Sessions and processes that act on what is not their own, some of them without an end. */
export const denials: readonly Request[] = [
  {
    name: "act on another's process",
    weight: 4,
    ask(world, peer, track) {
      const { random } = world.stage
      const session = someSession(world)
      const actor: Actor = random.chance(0.7) ? `session:${session}` : `process:${world.somePid()}`
      const pid = world.somePid(({ record }) => record.owner.session !== session)
      const acts = actsOn(pid, actor, peer)
      const act = random.pick(acts)
      const times = random.pick([1, 1, 2, 4])
      for (let time = 0; time < times; time++) track(`${actor} ${act.type} ${pid}`, peer.kernel.perform(act))
      if (random.chance(0.2)) track(`${actor} all of ${pid}`, peer.kernel.performAll(acts))
    },
  },
  {
    name: "register in another's session",
    weight: 2,
    ask(world, peer, track) {
      const actor: Actor = `session:${someSession(world)}`
      registerIn(peer, actor, someSession(world), track)
    },
  },
  {
    name: 'be denied without an end',
    weight: 0.15,
    ask(world, peer, track) {
      const actor: Actor = `session:${someSession(world)}`
      for (let index = 0; index < MANY; index++) registerIn(peer, actor, `none${index}`, track)
    },
  },
]

function registerIn(peer: Peer, actor: Actor, session: string, track: Parameters<Request['ask']>[2]): void {
  const request = {
    kind: 'tool',
    spec: { tool: 'script', input: [] },
    eventTypes: EVENT_TYPES,
    owner: { session },
  } as const
  track(`${actor} in ${session}`, peer.kernel.register([{ request, actor }]))
}

function actsOn(pid: Pid, actor: Actor, peer: Peer): readonly Intent[] {
  const asked = { pid, actor, at: peer.clock.now() }
  return [
    { ...asked, type: 'change_cwd', cwd: '/elsewhere' },
    { ...asked, type: 'stop', how: 'cancel', reason: 'not mine', cause: null, replayKey: 'not mine' },
    { ...asked, type: 'pause' },
    { ...asked, type: 'signal', name: 'go', id: 'not mine', value: 1 },
    { ...asked, type: 'request_abandon', reason: 'not mine' },
    { ...asked, type: 'change_owner', owner: {} },
  ]
}
