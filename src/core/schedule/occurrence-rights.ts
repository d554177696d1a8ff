import type { Ceiling } from '../capability/ceiling.ts'
import type { Actor } from '../process/record.ts'
import type { OccurrenceRights, Schedule } from './schedule.ts'

/** An actor that acts on a schedule, and the ceilings that bind it. */
export interface ScheduleActor {
  readonly actor: Actor
  readonly ceilings: readonly Ceiling[]
}

/** The parts of a schedule or a trigger that decide about the rights of its occurrences. */
type Definition = Pick<Schedule, 'createdBy' | 'session' | 'ceilings'>

/** The rights of the occurrences. An agent acts through the session of the schedule, below its own. */
export function rightsOf({ createdBy, session, ceilings }: Definition): OccurrenceRights {
  return asRights(isPersonOrHost(createdBy) ? createdBy : `session:${session}`, ceilings)
}

/** The rights of occurrences that an actor asks for besides those that are due: an agent never has those of a person. */
export function rightsFor(by: ScheduleActor, schedule: Definition): OccurrenceRights {
  if (isPersonOrHost(by.actor)) return rightsOf(schedule)
  return asRights(`session:${schedule.session}`, allCeilings(schedule.ceilings, by.ceilings))
}

/**
 * Whose rights the occurrences have after an edit. The process alone decides what they do: a person that edits anything else does not
 * take over what an agent made, and an agent that edits anything is bound by its own rules besides.
 */
export function boundAfterEdit(
  was: Pick<Schedule, 'createdBy' | 'ceilings'>,
  { actor, ceilings }: ScheduleActor,
  isOtherProcess: boolean,
): Pick<Schedule, 'createdBy' | 'ceilings'> {
  if (isOtherProcess) return { createdBy: actor, ceilings }
  if (isPersonOrHost(actor)) return { createdBy: was.createdBy, ceilings: was.ceilings }
  const createdBy = isPersonOrHost(was.createdBy) ? actor : was.createdBy
  return { createdBy, ceilings: allCeilings(was.ceilings, ceilings) }
}

function asRights(actor: Actor, ceilings: readonly Ceiling[]): OccurrenceRights {
  return ceilings.length === 0 ? { actor } : { actor, ceilings }
}

function allCeilings(some: readonly Ceiling[], others: readonly Ceiling[]): readonly Ceiling[] {
  return [...some, ...others.filter(({ givenTo }) => !some.some((known) => known.givenTo === givenTo))]
}

function isPersonOrHost(actor: Actor): boolean {
  return actor === 'host' || actor.startsWith('human:')
}
