import type { OutputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import { startFailure, statusText } from './status.ts'

/** The occurrence that ended last, if it did not complete: which it is, and why. Undefined if there is none to tell of. */
export async function lastFailure(
  reeve: ReeveVerbs,
  { last }: Pick<OutputOf<'schedule'>, 'last'>,
): Promise<string | undefined> {
  if (last === null || last.status === 'completed') return undefined
  // It may have been pruned.
  const record = await reeve.show({ pid: last.pid }).catch(() => null)
  if (record === null) return last.pid
  const failure = startFailure(record)
  const why = failure === undefined ? statusText(record) : `${failure.message} ${failure.remedy}`
  return `${last.pid}: ${why.trim()}`
}
