import { BoundedMap } from '../base/bounded-map.ts'
import type { Seat } from '../core/authority/person.ts'
import type { Actor } from '../core/process/record.ts'
import type { ReeveVerbs } from '../verbs/reeve.ts'
import { type ActingParts, acting } from './acting.ts'

/** People whose verbs are kept for their next call. Making them again costs little. */
const MAX_KEPT = 100

/** The verbs of clients at a door, by the person behind the client. */
export function atDoors(parts: ActingParts): (seat: Seat, actor: Actor) => ReeveVerbs {
  const kept = new BoundedMap<string, ReeveVerbs>(MAX_KEPT)
  return (seat, actor) => {
    if (actor !== 'host' || seat.through !== undefined) return acting(parts, actor, seat)
    const key = `${seat.approver} ${seat.mayBeProgram === true} ${seat.person}`
    const verbs = kept.get(key) ?? acting(parts, actor, seat)
    kept.set(key, verbs)
    return verbs
  }
}
