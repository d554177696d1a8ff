import type { OutputOf } from '../verbs/reeve.ts'
import { answerText } from './print/approval-card.ts'

/** What became of an approval, in a line. */
export function settlementText({
  type,
  approval,
}: Pick<OutputOf<'approve'>, 'approval'> & { readonly type: string }): string {
  const { id, pid, state, answer } = approval
  const how = answer === null ? state : answerText(answer)
  return type === 'settled' ? `${id} ${how}: ${pid}` : `${id} was ${how} before, and that stays: ${pid}`
}
