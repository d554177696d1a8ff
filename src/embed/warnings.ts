import type { AnswerMasker } from '../actions/mask-answers.ts'
import type { Revealed } from '../actions/reveal.ts'
import { messageOf } from '../base/error-text.ts'

/** The default of `onTrouble`: errors of background work become process warnings. */
export function warnOfTrouble(error: unknown, doing: string, masker: AnswerMasker): void {
  const said = messageOf(error)
  process.emitWarning(masker.text(`While ${doing}: ${said}`), { type: 'ReeveWarning' })
}

/** The default of `onReveal`. The end is the last event of a process: a reveal after it is not recorded, so it becomes a warning. */
export function warnOfReveal({ pid, actor, verb }: Revealed, isRecorded: boolean): void {
  if (isRecorded) return
  const said = `${actor} was shown secrets of ${pid} (${verb}), which has ended and takes no event of it.`
  process.emitWarning(`${said} Listen with onReveal to hear of it.`, { type: 'ReeveWarning' })
}
