import { NATIVE_AGENT, targetOf } from '../process/record.ts'
import { type Refusal, refusal } from '../refusal.ts'
import type { ScheduleDefinition } from './schedule.ts'
import { refuseTimes, type Timetable } from './timetable.ts'

/** Refuses a definition that could never run, or whose occurrences would never end. */
export function refuseSchedule(
  { request, times }: ScheduleDefinition,
  timetable: Timetable,
  now: number,
): Refusal | undefined {
  return refuseProcess(request) ?? refuseTimes(times, timetable, now)
}

export function refuseProcess({ kind, spec }: ScheduleDefinition['request']): Refusal | undefined {
  if (kind === 'external')
    return refusal(
      'invalid_input',
      'An external process is started by another program, so no schedule or trigger can start it.',
      'Choose a command, a workflow, a tool or an agent.',
      { field: 'process.kind' },
    )
  if (kind !== 'agent') return undefined
  const { goal = null } = spec
  const isDriven = targetOf(kind, spec) === NATIVE_AGENT && goal !== null
  if (isDriven && spec['once'] === true) return undefined
  return refusal(
    'invalid_input',
    'The agent of a schedule or a trigger needs a model, a goal and once: true, so that it begins and ends by itself.',
    'Give spec.model and spec.goal, and leave spec.once out or set it.',
    { field: 'process.spec' },
  )
}

export function scheduleUnknown(id: string): Refusal {
  return refusal('not_found', `There is no schedule ${id}.`, 'List them: reeve schedule list.', {
    schedule: id,
  })
}
