import type { OccurrenceRequest } from '../core/schedule/schedule.ts'
import type { ParsedInputOf } from '../verbs/reeve.ts'
import type { ActionParts } from './action.ts'
import { checkPatterns, withoutUndefined } from './spawn.ts'

/** The process of a schedule or a trigger. An agent ends with its turn, so that the next occurrence can begin. */
export function occurrenceRequestOf(
  { commands }: Pick<ActionParts, 'commands'>,
  asked: ParsedInputOf<'addSchedule'>['process'],
): OccurrenceRequest {
  if (asked.kind === 'command') checkPatterns(asked.spec)
  const request = withoutUndefined(asked) as OccurrenceRequest
  if (asked.kind === 'agent') return { ...request, spec: { once: true, ...request.spec } }
  const isHere = asked.kind === 'command' && commands !== undefined
  return isHere ? { ...request, cwd: request.cwd ?? process.cwd() } : request
}
