import type { Actor, StopHow } from '../../../src/core/process/record.ts'
import type { Peer } from '../peer.ts'
import type { World } from '../world.ts'
import type { Request } from './intent.ts'
import { SIGNALS } from './requests.ts'

export const signals: readonly Request[] = [
  {
    name: 'signal',
    weight: 6,
    ask(world, peer, track) {
      const { random } = world.stage
      const pid = world.somePid()
      const name = random.pick(SIGNALS)
      // Few ids: some are repeated, with the same value or with another one.
      const id = `i${random.between(1, 12)}`
      const value = random.chance(0.8) ? id : 'another value'
      const asked = { ...askedOf(peer, pid), type: 'signal', name, id, value } as const
      track(`${pid} ${name} ${id}`, peer.kernel.perform(asked), () => {
        const stored = world.ledger.eventByKey(pid, `signal:${name}:${id}`)
        if ((stored?.payload as { value?: unknown } | undefined)?.value !== value)
          world.stage.violated('no lost acknowledged write', `signal ${name} ${id} of ${pid} was accepted`)
      })
    },
  },
  {
    name: 'answer',
    weight: 2,
    ask(world, peer, track) {
      const { random } = world.stage
      const key =
        world.keys.length === 0 || random.chance(0.1)
          ? 'p_000000000001.signal.go.1.00'
          : random.pick(world.keys)
      const value = `answer ${random.between(1, 99)}`
      track(key.slice(0, 30), peer.kernel.waits.answer('host', key, value), (answer) => {
        if (answer !== 'accepted') return
        const [pid = '', on, name, ordinal] = key.split('.')
        const left = world.ledger.eventByKey(pid, `wait:${on}:${name}:${ordinal}:left`)
        if ((left?.payload as { value?: unknown } | undefined)?.value !== value)
          world.stage.violated(
            'no lost acknowledged write',
            `the answer to ${name} ${ordinal} of ${pid} was accepted`,
          )
        if (world.answered.has(key)) world.stage.violated('a key is good for one answer', key)
        world.answered.add(key)
      })
    },
  },
  {
    name: 'pause',
    weight: 2,
    ask(world, peer, track) {
      const pid = world.somePid()
      track(pid, peer.kernel.perform({ ...askedOf(peer, pid), type: 'pause' }))
    },
  },
  {
    name: 'resume',
    weight: 3,
    ask(world, peer, track) {
      const pid = world.somePid(({ record }) => record.status === 'paused')
      track(pid, peer.kernel.perform({ ...askedOf(peer, pid), type: 'resume' }))
    },
  },
  { name: 'interrupt', weight: 1, ask: (world, peer) => stop(world, peer, 'interrupt') },
  { name: 'cancel', weight: 2, ask: (world, peer) => stop(world, peer, 'cancel') },
  { name: 'kill', weight: 1.5, ask: (world, peer) => stop(world, peer, 'kill') },
  {
    name: 'cancel a tree',
    weight: 1,
    ask: (world, peer) =>
      stop(
        world,
        peer,
        'cancel',
        world.somePid(({ record }) => record.children > 0),
      ),
  },
]

function stop(world: World, peer: Peer, how: StopHow, pid = world.somePid()): void {
  const replayKey = `${how}:${world.stage.random.between(1, 99)}`
  const asked = {
    ...askedOf(peer, pid),
    type: 'stop',
    how,
    reason: `${how} asked`,
    cause: null,
    replayKey,
  } as const
  world.track(how, peer, pid, peer.kernel.perform(asked), () => {
    const record = world.ledger.entry(pid)?.record
    if (record?.outcome === null && record.stopRequest === null)
      world.stage.violated('no lost acknowledged write', `the ${how} of ${pid} was accepted`)
  })
}

/** Usually the host asks, which may do everything; sometimes a session, which may act on its own processes. */
export function askedOf(peer: Peer, pid: string) {
  const { random } = peer.stage
  const actor: Actor = random.chance(0.1) ? `session:s${random.between(1, 3)}` : 'host'
  return { pid, actor, at: peer.clock.now() }
}
