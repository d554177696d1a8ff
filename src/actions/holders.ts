import { type HolderLiveness, type HolderRow, livenessOf } from '../core/lease/holder.ts'
import { type ActionParts, type ActionsFor, permitOnStore } from './action.ts'

/** How many processes are listed for each holder. */
const MAX_LISTED = 100

/** The holders of leases; an operator removes one that hangs. */
export function holderActions(parts: ActionParts): ActionsFor<'holders' | 'removeHolder'> {
  const { kernel, actor } = parts
  const { edges } = kernel
  const { store } = edges
  const heldBy = async (id: string) => {
    const { items, next } = await store.ask({ ask: 'held', holder: id, after: null, limit: MAX_LISTED })
    return { holds: items.map(({ record }) => record.pid), holdsMore: next !== null }
  }
  return {
    async holders() {
      permitOnStore(parts, 'admin')
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

function described(row: HolderRow, proof: HolderLiveness['proof']) {
  const { id, role, host, osPid, since = null, renewedAt } = row
  // A worker reports itself: its machine and PID are not known.
  const program = role === 'worker' ? { host: null, osPid: null } : { host, osPid }
  return { id, role, ...program, since, renewedAt, ...livenessOf(row, proof) }
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
