import type { Pid } from '../../../src/core/process/pid.ts'
import { type PruneBatch, pruneInBatches } from '../../../src/kernel/prune.ts'
import type { Request } from './intent.ts'

export const upkeep: readonly Request[] = [
  {
    name: 'prune',
    weight: 0.5,
    ask(world, peer, track) {
      const { random } = world.stage
      const options = random.chance(0.5)
        ? { keep: random.between(0, 5) }
        : { endedBefore: peer.clock.now() - random.between(0, 30_000) }
      track(JSON.stringify(options), prunedBy(pruneInBatches(peer.kernel.edges, options)), (pids) => {
        for (const pid of pids)
          if (world.ledger.processes.has(pid))
            world.stage.violated('acknowledged is durable', `${pid} was pruned`)
      })
    },
  },
  {
    name: 'recover',
    weight: 2,
    ask(_world, peer, track) {
      track('', peer.kernel.sweep())
    },
  },
  {
    name: 'recover everywhere',
    weight: 1,
    ask(world) {
      for (const peer of world.open) world.track('recover', peer, '', peer.kernel.sweep())
    },
  },
]

async function prunedBy(batches: AsyncGenerator<PruneBatch>): Promise<Pid[]> {
  const all: Pid[] = []
  for await (const { pruned } of batches) all.push(...pruned)
  return all
}
