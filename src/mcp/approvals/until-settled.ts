import { setTimeout as sleep } from 'node:timers/promises'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import type { Waiting } from './prompts.ts'

/** The pause after a failed request. */
const RETRY_MS = 500

/** Whether the approval of a process was settled within this time. */
export async function isSettledWithin(
  acting: Pick<ReeveVerbs, 'waitFor'>,
  { pid, revision }: Waiting,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const heard = await acting.waitFor({ pid, types: SETTLED, after: revision, timeoutMs }, { signal })
  return heard.type === 'heard'
}

/** Resolves when the approval is settled, over restarts of the daemon; also when the signal aborts. */
export async function untilSettled(
  access: () => Promise<Pick<ReeveVerbs, 'waitFor'>>,
  { pid, revision }: Waiting,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const acting = await access()
      const heard = await acting.waitFor({ pid, types: SETTLED, after: revision }, { signal })
      if (heard.type === 'heard') return
    } catch {
      // The daemon is unreachable: the approval stays pending meanwhile.
    }
    await sleep(RETRY_MS, undefined, { signal, ref: false }).catch(() => {})
  }
}

/** The end of the process ends the wait, too: it withdraws the approval. */
const SETTLED = ['approval_settled']
