import type { OutputOf, ReeveVerbs } from '../../verbs/reeve.ts'

const DAY_MS = 24 * 60 * 60 * 1_000

/** Waits for the end of a process, without a limit, and resolves with its record. */
export async function waitForEnd(
  reeve: ReeveVerbs,
  pid: string,
  signal?: AbortSignal,
): Promise<OutputOf<'show'>> {
  while (true) {
    const waited = await reeve.wait({ pid, timeoutMs: DAY_MS }, signal === undefined ? {} : { signal })
    if (waited.type === 'ended') return waited.record
    signal?.throwIfAborted()
  }
}

/**
 * Begins to wait for the end before the output is followed: a daemon that stops answers the requests it has, and no later ones. A
 * failure is reported to the caller that awaits the promise, and never as unhandled.
 */
export function beginWaitForEnd(
  reeve: ReeveVerbs,
  pid: string,
  signal: AbortSignal,
): Promise<OutputOf<'show'>> {
  const record = waitForEnd(reeve, pid, signal)
  record.catch(() => undefined)
  return record
}
