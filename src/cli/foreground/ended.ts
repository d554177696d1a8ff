import type { OutputOf, ReeveVerbs } from '../../verbs/reeve.ts'

const DAY_MS = 24 * 60 * 60 * 1_000

/** The record with its outcome, however long that takes. */
export async function ended(reeve: ReeveVerbs, pid: string, signal?: AbortSignal): Promise<OutputOf<'show'>> {
  while (true) {
    const waited = await reeve.wait({ pid, timeoutMs: DAY_MS }, signal === undefined ? {} : { signal })
    if (waited.type === 'ended') return waited.record
    signal?.throwIfAborted()
  }
}

/**
 * Asked for before its output is followed: a daemon that stops answers what it was asked before, and nothing later. What goes
 * wrong with it is said to whoever awaits it, and to nobody else.
 */
export function endedLater(reeve: ReeveVerbs, pid: string, signal: AbortSignal): Promise<OutputOf<'show'>> {
  const record = ended(reeve, pid, signal)
  record.catch(() => undefined)
  return record
}
