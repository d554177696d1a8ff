import type { Acting, OutputOf } from '../../verbs/reeve.ts'

const DAY_MS = 24 * 60 * 60 * 1_000

/** The record with its outcome, however long that takes. */
export async function ended(reeve: Acting, pid: string): Promise<OutputOf<'show'>> {
  while (true) {
    const waited = await reeve.wait({ pid, timeoutMs: DAY_MS })
    if (waited.type === 'ended') return waited.record
  }
}
