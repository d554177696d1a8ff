import type { Peer } from './peer.ts'
import type { World } from './world.ts'
import { hasAgents } from './world-kind.ts'

/** Faults of whole kernels, or of all of them. */
export interface Upset {
  readonly name: string
  readonly weight: number
  happen(world: World): void
}

const MAX_PEERS = 4
/** In TTLs: enough that one kernel takes another's row for expired, or its own for renewed long ago. */
const MAX_JUMP = 1.3

export const upsets: readonly Upset[] = [
  {
    name: 'a kernel dies',
    weight: 2,
    happen: (world) => some(world, (peer) => peer.die('all of a sudden')),
  },
  {
    name: 'a kernel freezes',
    weight: 3,
    happen: (world) =>
      some(world, (peer) => {
        peer.freeze()
        world.stage.say(peer.name, 'freezes')
        const ms = world.stage.settings.ttlMs * world.stage.random.pick([0.1, 0.7, 1.2, 2])
        // The world's timer thaws it: its own timers are frozen with it.
        world.stage.schedule.after(world.stage, ms, 'thaws', () => {
          if (!peer.alive) return
          peer.thaw()
          world.stage.say(peer.name, `thaws after ${ms} ms`)
        })
      }),
  },
  {
    name: 'a clock jumps',
    weight: 1.5,
    happen: (world) =>
      some(world, (peer) => {
        const most = Math.round(world.stage.settings.ttlMs * MAX_JUMP)
        peer.jump(world.stage.random.between(-most, most))
        world.stage.say(peer.name, `has its clock off by ${peer.offsetMs} ms`)
      }),
  },
  {
    name: 'a kernel closes',
    weight: 1,
    happen: (world) =>
      some(world, (peer) => {
        world.stage.say(peer.name, 'closes')
        peer.close()
      }),
  },
  { name: 'a kernel starts', weight: 3, happen: (world) => bootSome(world) },
  {
    name: 'the machine sleeps',
    weight: 0.7,
    happen(world) {
      world.stage.schedule.now += world.stage.random.between(1_000, 2 * world.stage.settings.ttlMs)
      world.stage.say('world', 'wakes up from sleep')
    },
  },
  {
    name: 'the disk is in trouble',
    weight: 0.7,
    happen({ stage }) {
      if (stage.diskTrouble !== undefined) return
      stage.diskTrouble = stage.random.pick(['full', 'io'])
      stage.say('world', `the disk is ${stage.diskTrouble}`)
      stage.schedule.after(stage, stage.random.between(100, 10_000), 'mends', () => {
        stage.diskTrouble = undefined
        stage.say('world', 'the disk is well again')
      })
    },
  },
]

const ALL = ['tool', 'agent', 'workflow'] as const
const KERNELS = [ALL, ALL, ['tool'], ['workflow'], []] as const
const AGENT_KERNELS = [ALL, ALL, ALL, ALL, ['tool']] as const

export function bootSome(world: World): void {
  if (world.peers.length >= MAX_PEERS) return
  const { random } = world.stage
  const serves = random.pick(hasAgents(world.kind) ? AGENT_KERNELS : KERNELS)
  world.boot({ serves, concurrency: random.pick([1, 2, 5, 100]) })
}

function some(world: World, upset: (peer: Peer) => void): void {
  const { open } = world
  if (open.length > 0) upset(world.stage.random.pick(open))
}
