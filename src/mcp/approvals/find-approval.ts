import { ReeveError } from '../../core/errors.ts'
import type { OutputOf, ReeveVerbs } from '../../verbs/reeve.ts'

export type Approval = OutputOf<'approval'>['approval']

/** An approval that the actor may see; null if there is none with this id. */
export async function findApproval(
  acting: Pick<ReeveVerbs, 'approval'>,
  id: string,
): Promise<Approval | null> {
  try {
    return (await acting.approval({ id })).approval
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'approval_unknown') return null
    throw error
  }
}

/** The same, if it waits for an answer. */
export async function findPending(
  acting: Pick<ReeveVerbs, 'approval'>,
  id: string,
): Promise<Approval | null> {
  const approval = await findApproval(acting, id)
  return approval?.state === 'pending' ? approval : null
}
