import { RefusedError, StoreError } from '../core/errors.ts'
import type { Intent } from '../core/process/intent.ts'
import { hasEnded, type ProcessRecord } from '../core/process/record.ts'
import type { Kernel } from './kernel.ts'

export type StopIntent = Extract<Intent, { type: 'stop' }>

/**
 * Stops a command whose stop the store could not record: a full disk must not keep a program running. Its end is written
 * when the store accepts writes again. Answers with the current record. Throws `error` if no keeper here can stop it.
 */
export async function stopUnrecorded(
  kernel: Kernel,
  { pid, actor, how, reason, graceMs }: StopIntent,
  error: unknown,
): Promise<ProcessRecord> {
  if (!(error instanceof StoreError)) throw error
  const { store, authorize } = kernel.edges
  const row = await store.ask({ ask: 'process', pid })
  if (row === null || hasEnded(row.record)) throw error
  const denied = authorize(actor, 'signal', { type: 'process', record: row.record })
  if (denied !== undefined) throw new RefusedError(denied)
  const stop = { how, reason, source: actor, ...(graceMs === undefined ? {} : { graceMs }) }
  if (!kernel.askToStop(pid, stop)) throw error
  return row.record
}
