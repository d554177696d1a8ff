import { ReeveError } from '../core/errors.ts'
import type { ReeveVerbs } from '../verbs/reeve.ts'

/** Marks the end of a process as seen, as a wait for it does: the inbox does not tell it again. */
export async function markEndAsSeen(acting: ReeveVerbs, pid: string, signal: AbortSignal): Promise<void> {
  try {
    await acting.wait({ pid, timeoutMs: 0 }, { signal })
  } catch (error) {
    // What the tool did is done: its answer matters more than a notice that is told once more.
    if (!(error instanceof ReeveError)) throw error
  }
}
