import type { Request } from './intent.ts'
import { askedOf } from './signals.ts'

/** Writes of a kernel about external processes that it can reach. */
export const external: readonly Request[] = [
  {
    name: 'confirm a stop',
    weight: 1,
    ask(world, peer, track) {
      const pid = world.somePid(({ record }) => record.kind === 'external' && record.stopRequest !== null)
      // Mostly the recorded stop; sometimes one that a stronger stop has replaced.
      const requested = world.ledger.entry(pid)?.record.stopRequest?.how ?? 'kill'
      const how = world.stage.random.chance(0.8) ? requested : 'interrupt'
      const intent = {
        ...askedOf(peer, pid),
        type: 'confirm_stop',
        delivered: { how, by: 'signal' },
      } as const
      track(`${pid} ${how}`, peer.kernel.perform(intent), () => {
        const stop = world.ledger.entry(pid)?.record.stopRequest
        if (stop?.how === how && stop.deliveredAt === undefined)
          world.stage.violated('no lost acknowledged write', `the ${how} of ${pid} was confirmed`)
      })
    },
  },
  {
    name: 'see an OS process gone',
    weight: 0.5,
    ask(world, peer, track) {
      const pid = world.somePid(({ record }) => record.kind === 'external')
      const entry = world.ledger.entry(pid)
      if (entry?.record.kind !== 'external') return
      const { holder, fence } = entry.row
      const gone = { type: 'abandon', observed: { holder, fence }, evidence: 'process_gone' } as const
      const intent = { ...askedOf(peer, pid), actor: `kernel:${peer.holder}`, ...gone } as const
      track(pid, peer.kernel.perform(intent))
    },
  },
]
