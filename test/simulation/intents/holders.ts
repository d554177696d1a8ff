import type { Request } from './intent.ts'

/** The processes of a holder, with their fences. */
function heldBy(processes: Parameters<Request['ask']>[0]['ledger']['processes'], id: string) {
  return [...processes.values()].flatMap(({ pid, row }) =>
    row.holder === id ? [{ pid, fence: row.fence }] : [],
  )
}

export const holders: readonly Request[] = [
  {
    name: 'remove a holder',
    weight: 0.7,
    ask(world, peer, track) {
      const { stage, ledger } = world
      const { random } = stage
      const rows = ledger.observer.ask({ ask: 'holders' })
      const id = rows.length === 0 || random.chance(0.05) ? 'k_unknown' : random.pick(rows).id
      const force = random.chance(0.4)
      const before = heldBy(ledger.processes, id)
      const asked = peer.kernel.removeHolder('host', id, { force })
      track(`${id}${force ? ' by force' : ''}`, asked, () => {
        ledger.removed.add(id)
        for (const { pid, fence } of heldBy(ledger.processes, id))
          if (before.some((one) => one.pid === pid && one.fence === fence))
            stage.violated('a removed holder holds nothing', `${id} still has ${pid} under ${fence}`)
      })
    },
  },
]
