import type { Pid } from '../core/process/pid.ts'
import { hasEnded } from '../core/process/record.ts'
import type { Kernel } from '../kernel/kernel.ts'

/** How the store knows a process: as one that is held, as one that is over, or not at all. */
export async function storedStateOf(
  kernel: Kernel,
  pid: Pid,
): Promise<'over' | 'unknown' | { holder: string | null }> {
  const { store } = kernel.edges
  const row = await store.ask({ ask: 'process', pid })
  if (row !== null) return hasEnded(row.record) ? 'over' : { holder: row.holder }
  return (await store.ask({ ask: 'tombstone', pid })) === null ? 'unknown' : 'over'
}
