import { ruleText } from '../../verbs/approval-text.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import type { ProcessView } from '../process-view.ts'
import { findPending } from './find-approval.ts'

/** Why a process waits for a person; nothing for any other process. */
export async function approvalNotes(
  acting: Pick<ReeveVerbs, 'approval'>,
  { approval }: Pick<ProcessView, 'approval'>,
): Promise<string[]> {
  const found = approval === null ? null : await findPending(acting, approval)
  const rule = found === null ? null : ruleText(found)
  return rule === null ? [] : [`[asked because of the rule ${rule}]`]
}
