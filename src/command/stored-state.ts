import type { Pid } from '../core/process/pid.ts'
import { hasEnded } from '../core/process/record.ts'
import type { Kernel } from '../kernel/kernel.ts'

/** The stored state of a process: its holder, ended, or unknown. */
export async function storedStateOf(
  kernel: Kernel,
  pid: Pid,
): Promise<'over' | 'unknown' | { holder: string | null }> {
  const { store } = kernel.edges
  const row = await store.ask({ ask: 'process', pid })
  if (row !== null) return hasEnded(row.record) ? 'over' : { holder: row.holder }
  return (await store.ask({ ask: 'tombstone', pid })) === null ? 'unknown' : 'over'
}
