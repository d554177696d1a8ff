import type { Intent } from '../../../src/core/process/intent.ts'
import { same } from '../ledger.ts'
import type { Peer } from '../peer.ts'
import type { World } from '../world.ts'
import type { Request } from './intent.ts'
import { someOwner } from './requests.ts'
import { askedOf } from './signals.ts'

export const writes: readonly Request[] = [
  {
    name: 'append',
    weight: 4,
    ask(world, peer, track) {
      const intent = someAppend(world, peer)
      track(`${intent.pid} ${intent.event} ${intent.replayKey}`, peer.kernel.perform(intent), () => {
        if (intent.replayKey === null) return
        const stored = world.ledger.eventByKey(intent.pid, intent.replayKey)
        if (stored?.type !== intent.event || !same(stored.payload, intent.payload))
          world.stage.violated('no lost acknowledged write', `${intent.event} of ${intent.pid} was accepted`)
      })
    },
  },
  {
    name: 'append several',
    weight: 1.5,
    ask(world, peer, track) {
      const intents = Array.from({ length: world.stage.random.between(2, 3) }, () => someAppend(world, peer))
      const pids = intents.map(({ pid }) => pid).join(' ')
      track(pids, peer.kernel.performAll(intents))
    },
  },
  {
    name: 'append with a stale fence',
    weight: 1.5,
    ask(world, peer, track) {
      const { random } = world.stage
      const pid = world.somePid(({ row }) => row.fence > 0)
      const { granted, row } = world.ledger.entry(pid) ?? {
        granted: new Map<number, string>(),
        row: { fence: 1 },
      }
      const fence = Math.max(1, row.fence - random.between(0, 1))
      const holder = random.chance(0.8) ? (granted.get(fence) ?? peer.holder) : peer.holder
      // Only the holder's kernel uses its fence; the current fence from elsewhere would be an error of the simulator.
      const isOwn = holder === peer.holder || fence < row.fence
      const intent = {
        ...someAppend(world, peer),
        pid,
        fence: { holder: isOwn ? holder : 'k_stranger', fence },
      }
      track(`${pid} ${fence}`, peer.kernel.perform(intent))
    },
  },
  {
    name: 'end',
    weight: 3,
    ask(world, peer, track) {
      const { random } = world.stage
      const pid = random.chance(0.8)
        ? world.somePid(({ record }) => record.kind === 'external')
        : world.somePid()
      const status = random.pick(['completed', 'failed', 'cancelled'] as const)
      const ending = { status, exitCode: random.pick([0, 1]), result: random.pick(['a', 'b']) }
      const replayKey = `outside:${random.between(1, 2)}`
      const intent = { ...askedOf(peer, pid), type: 'end', ending, replayKey, fence: null } as const
      track(`${pid} ${status}`, peer.kernel.perform(intent), () => {
        const outcome = world.ledger.entry(pid)?.record.outcome
        if (outcome?.status !== status || outcome.result !== ending.result)
          world.stage.violated(
            'one outcome',
            `the end of ${pid} as ${status} was accepted, it is ${outcome?.status}`,
          )
      })
    },
  },
  {
    name: 'abandon',
    weight: 1.5,
    ask(world, peer, track) {
      const pid = world.somePid()
      const intent = { ...askedOf(peer, pid), type: 'request_abandon', reason: 'nobody needs it' } as const
      track(pid, peer.kernel.perform(intent))
    },
  },
  {
    name: 'changeOwner',
    weight: 1,
    ask(world, peer, track) {
      const pid = world.somePid()
      const intent = { ...askedOf(peer, pid), type: 'change_owner', owner: someOwner(world) } as const
      track(`${pid} ${JSON.stringify(intent.owner)}`, peer.kernel.perform(intent))
    },
  },
  {
    name: 'change cwd',
    weight: 0.5,
    ask(world, peer, track) {
      const pid = world.somePid()
      track(pid, peer.kernel.perform({ ...askedOf(peer, pid), type: 'change_cwd', cwd: '/tmp' }))
    },
  },
  {
    name: 'setExternalRef',
    weight: 0.5,
    ask(world, peer, track) {
      const pid = world.somePid(({ record }) => record.kind === 'external')
      const ref = { ticket: world.stage.random.between(1, 9) }
      track(pid, peer.kernel.perform({ ...askedOf(peer, pid), type: 'set_external_ref', ref }))
    },
  },
]

/** An event that is declared or not, valid or not, new or repeated, of a held process or a free one. */
function someAppend(world: World, peer: Peer): Extract<Intent, { type: 'append' }> {
  const { random } = world.stage
  const event = random.pick(['note', 'note', 'progress', 'ping', 'done', 'undeclared', 'ended'])
  const payload = random.chance(0.9)
    ? event === 'progress'
      ? random.between(1, 9)
      : `said ${random.between(1, 2)}`
    : { odd: true }
  const replayKey = random.chance(0.6) ? `outside:${random.between(1, 5)}` : null
  return { ...askedOf(peer, world.somePid()), type: 'append', event, payload, replayKey, fence: null }
}
