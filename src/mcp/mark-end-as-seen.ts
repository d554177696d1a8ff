import { ReeveError } from '../core/errors.ts'
import type { ReeveVerbs } from '../verbs/reeve.ts'

/** Marks the end of a process as seen, as a wait does, so that the inbox does not repeat it. */
export async function markEndAsSeen(acting: ReeveVerbs, pid: string, signal: AbortSignal): Promise<void> {
  try {
    await acting.wait({ pid, timeoutMs: 0 }, { signal })
  } catch (error) {
    // The tool has done its work. Its answer matters more than a notice that is delivered twice.
    if (!(error instanceof ReeveError)) throw error
  }
}
