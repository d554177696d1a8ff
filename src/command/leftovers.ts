import type { Pid } from '../core/process/pid.ts'
import { KeeperRefused, LinkLost } from './keeper-link.ts'
import type { KeeperSide } from './keeper-side.ts'

/**
 * The processes that have ended and left programs running, as far as their keepers know. A keeper that is not connected, or
 * is too old to be asked, names none.
 */
export async function leftoversOf(keepers: readonly Pick<KeeperSide, 'ask'>[]): Promise<Pid[]> {
  const found = await Promise.all(keepers.map(leftoversOfOne))
  return [...new Set(found.flat())]
}

async function leftoversOfOne(keeper: Pick<KeeperSide, 'ask'>): Promise<Pid[]> {
  try {
    return (await keeper.ask('leftovers', {})).pids.map((pid) => pid as Pid)
  } catch (error) {
    const isTooOld = error instanceof KeeperRefused && error.refusal.code === 'bad_ask'
    if (error instanceof LinkLost || isTooOld) return []
    throw error
  }
}
