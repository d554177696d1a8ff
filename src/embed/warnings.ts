import type { AnswerMasker } from '../actions/mask-answers.ts'
import { messageOf } from '../base/error-text.ts'

/** The default of `onTrouble`: errors of background work become process warnings. */
export function warnOfTrouble(error: unknown, doing: string, masker: AnswerMasker): void {
  const said = messageOf(error)
  process.emitWarning(masker.text(`While ${doing}: ${said}`), { type: 'ReeveWarning' })
}
