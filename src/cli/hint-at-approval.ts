import { ReeveError } from '../core/errors.ts'
import type { ReeveVerbs } from '../verbs/reeve.ts'
import { howToAnswer } from './pending-approvals.ts'
import { askedIn } from './print/status.ts'

/**
 * Answers, and says which approval a process waits for if a process was named instead. It is not answered by its name: an agent could
 * give the name to another process meanwhile.
 */
export async function hintAtApproval<T>(reeve: ReeveVerbs, id: string, answer: () => Promise<T>): Promise<T> {
  try {
    return await answer()
  } catch (error) {
    if (!(error instanceof ReeveError) || error.code !== 'approval_unknown') throw error
    const { code, message } = error
    const unknown = new ReeveError(code, message, 'reeve approvals lists those that wait.', { cause: error })
    throw (await approvalHint(reeve, id, error)) ?? unknown
  }
}

/** The error for an id that is a process, and not an approval; null if it is neither. */
export async function approvalHint(
  reeve: Pick<ReeveVerbs, 'show'>,
  id: string,
  cause?: ReeveError,
): Promise<ReeveError | null> {
  const record = await reeve.show({ pid: id }).catch(() => null)
  const asked = record === null ? null : askedIn(record)
  if (asked === null) return null
  return new ReeveError(
    'approval_unknown',
    `${id} is a process that waits for ${asked.id}.`,
    `To answer, run ${howToAnswer(asked)}`,
    cause === undefined ? {} : { cause },
  )
}
