import { isDead } from '../core/lease/holder.ts'
import type { Edges } from '../kernel/edges.ts'

/** The boots on which holders of this store live. */
export async function liveBoots(edges: Edges): Promise<readonly string[]> {
  const holders = await edges.store.ask({ ask: 'holders' })
  return holders.filter((holder) => !isDead(holder, edges.prove(holder))).map(({ boot }) => boot)
}
