import { alreadyEnded, type NewEvent, newEvent } from '../process/decision.ts'
import type { Pid } from '../process/pid.ts'
import { type Actor, hasEnded, type ProcessRecord } from '../process/record.ts'
import { type Refusal, refusal } from '../refusal.ts'
import { type FoundObject, isReleased, lacksRight, refuseName } from './found.ts'
import { handleOf, MAX_HANDLE_CHAIN, type ObjectLinked, type ObjectRight, partsOf } from './object.ts'

export interface LinkRequest {
  readonly actor: Actor
  /** The name in the view of the process that gets the handle. */
  readonly as: string
  readonly rights: readonly ObjectRight[]
  /** The handle shows new versions. */
  readonly live: boolean
}

export interface LinkFacts {
  readonly giver: ProcessRecord
  readonly found: FoundObject
  /** The process whose namespace has the object; null if it is pruned. */
  readonly source: ProcessRecord | null
  readonly holder: ProcessRecord
  /** What the name stands for in the view of the holder. */
  readonly taken: FoundObject | null
}

/** The event of the process that gets the handle. Its rights are some of those of the giver. */
export function decideLink(
  { giver, found, source, holder, taken }: LinkFacts,
  { actor, as, rights, live }: LinkRequest,
): { readonly event: NewEvent; readonly handle: string } | Refusal {
  const { version, handle, writer, at } = found
  if (hasEnded(holder)) return alreadyEnded(holder)
  const unusable = refuseName(as) ?? refuseGiving(found, giver.pid, rights)
  if (unusable !== undefined) return unusable
  if (giver.root !== holder.root)
    return refusal(
      'denied',
      `${holder.pid} is in another tree than ${giver.pid}, and objects are shared within one.`,
      'Send its content in a message instead.',
      { right: 'link', oid: version.oid },
    )
  if (source !== null && isReleased(source, partsOf(version.oid).name) && handle === undefined)
    return refusal(
      'already_ended',
      `${version.oid} was released when ${source.pid} ended.`,
      'Hand on its result, or merge it into the view of its parent.',
      { oid: version.oid },
    )
  const given = { as, rights: sorted(rights), live: live && handle?.live !== false, target: version.oid }
  if (taken !== null) return refuseTaken(holder.pid, taken, given)
  const chain = handle === undefined ? [] : [handle.id, ...handle.chain]
  if (chain.length >= MAX_HANDLE_CHAIN)
    return refusal(
      'limit_exceeded',
      `The handle to ${version.oid} was handed on ${MAX_HANDLE_CHAIN} times, which is as often as it can be.`,
      'Ask the process that has the object for a handle.',
      { limit: 'handles' },
    )
  const id = handleOf(holder.pid, holder.revision + 1)
  const payload: ObjectLinked = {
    name: as,
    handle: id,
    rights: given.rights,
    from: actor,
    chain,
    target: { ...version, writer, at },
    live: given.live,
  }
  return { event: newEvent({ type: 'object_linked', payload }), handle: id }
}

function refuseGiving(found: FoundObject, giver: Pid, rights: readonly ObjectRight[]): Refusal | undefined {
  const missing = (['link', ...rights] as const).find((right) => !found.rights.includes(right))
  if (missing !== undefined) return lacksRight(giver, found, missing)
  if (rights.length > 0) return undefined
  return refusal('invalid_request', `A handle to ${found.name} without a right is none.`, 'Name its rights.')
}

function refuseTaken(
  holder: Pid,
  taken: FoundObject,
  given: { readonly as: string; readonly target: string },
): Refusal {
  return refusal(
    'name_in_use',
    `${holder} has an object ${given.as} already: ${taken.version.oid}.`,
    'Give the handle another name with `as`.',
    { name: given.as, oid: taken.version.oid },
  )
}

function sorted(rights: readonly ObjectRight[]): readonly ObjectRight[] {
  return [...new Set(rights)].sort()
}
