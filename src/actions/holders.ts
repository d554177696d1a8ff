import { RefusedError } from '../core/errors.ts'
import { type HolderRow, type HolderStanding, standingOf } from '../core/lease/holder.ts'
import type { Actor } from '../core/process/record.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { ActsFor } from './action.ts'

/** How much is shown of what one holder has. */
const MAX_SHOWN = 100

/** Who holds leases, and how an operator takes them from one that hangs. */
export function holderActs(kernel: Kernel, actor: Actor): ActsFor<'holders' | 'removeHolder'> {
  const { edges } = kernel
  const { store } = edges
  const heldBy = async (id: string) => {
    const { items, next } = await store.ask({ ask: 'held', holder: id, after: null, limit: MAX_SHOWN })
    return { holds: items.map(({ record }) => record.pid), holdsMore: next !== null }
  }
  return {
    async holders() {
      const denied = edges.authorize(actor, 'admin', { type: 'store' })
      if (denied !== undefined) throw new RefusedError(denied)
      const rows = await store.ask({ ask: 'holders' })
      const unannounced = await store.ask({ ask: 'unannounced' })
      const announced = rows.map(async (row) => ({
        ...described(row, edges.prove(row)),
        ...(await heldBy(row.id)),
      }))
      const others = unannounced.map(async (id) => ({ ...UNKNOWN, id, ...(await heldBy(id)) }))
      return { holders: await Promise.all([...announced, ...others]) }
    },
    async removeHolder({ id, force }) {
      return kernel.removeHolder(actor, id, { force })
    },
  }
}

function described(row: HolderRow, proof: HolderStanding['proof']) {
  const { id, role, host, osPid, since = null, renewedAt } = row
  // All that is known of a worker is what it says.
  const program = role === 'worker' ? { host: null, osPid: null } : { host, osPid }
  return { id, role, ...program, since, renewedAt, ...standingOf(row, proof) }
}

const UNKNOWN = {
  role: null,
  host: null,
  osPid: null,
  since: null,
  renewedAt: null,
  state: 'dead',
  proof: 'unknown',
} as const
