import type { Fence } from '../core/lease/lease.ts'
import type { Ending, Intent } from '../core/process/intent.ts'
import type { Lost } from './executor.ts'

/** What an executor answered with, as the intent that writes it. */
export function endIntent(
  asked: Pick<Intent, 'pid' | 'actor' | 'at'>,
  ending: Ending | Lost,
  fence: Fence,
  replayKey: string,
): Intent {
  if (ending.status !== 'abandoned') return { type: 'end', ...asked, ending, replayKey, fence }
  const { evidence, result = null } = ending
  return { type: 'abandon', ...asked, observed: fence, evidence, result }
}
