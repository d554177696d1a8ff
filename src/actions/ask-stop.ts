import type { ProcessRecord } from '../core/process/record.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { Done } from '../kernel/perform.ts'
import { type StopIntent, stopUnrecorded } from '../kernel/unrecorded-stop.ts'

/** A process that was asked to stop. */
export interface AskedStop {
  readonly record: ProcessRecord
  /** `unrecorded`: the store could not take the request, but the keeper was asked. */
  readonly how: Done['type'] | 'unrecorded'
}

/** Records the request to stop. If the store takes no writes, the keeper still gets the request. */
export async function askToStop(kernel: Kernel, intent: StopIntent): Promise<AskedStop> {
  try {
    const { type: how, row } = await kernel.perform(intent)
    return { how, record: row.record }
  } catch (error) {
    return { how: 'unrecorded', record: await stopUnrecorded(kernel, intent, error) }
  }
}
