import { takesChildren } from './parent.ts'
import type { ProcessRecord } from './record.ts'
import type { RegistrationRequest } from './registration-request.ts'
import { startSpecOf } from './spec.ts'

/**
 * The request that starts a process again, under the parts of its surroundings that still exist. `parent` is the record
 * of the old process's parent. One that takes no more children is left out, and the restart becomes a root.
 */
export function restartRequest(old: ProcessRecord, parent: ProcessRecord | null): RegistrationRequest {
  const { kind, name, owner, lifetime, recovery, placement, envRef, cwd, eventTypes, wakeTarget } = old
  // The allowance was returned, and is requested again: it may have been half of the parent's rest at that time.
  const { allowance, ...limits } = old.limits
  return {
    kind,
    // What ran: a person may have changed the spec that was asked for.
    spec: startSpecOf(old),
    owner,
    lifetime,
    recovery,
    eventTypes,
    limits,
    restartOf: old.pid,
    label: old.identity.label,
    definition: old.identity.definition,
    replyTo: old.replyTo,
    ...(allowance === undefined ? {} : { allowance }),
    ...(name === null ? {} : { name }),
    ...(placement === null ? {} : { placement }),
    ...(envRef === null ? {} : { envRef }),
    ...(cwd === null ? {} : { cwd }),
    ...(wakeTarget === null ? {} : { wakeTarget }),
    ...(parent !== null && takesChildren(parent) ? { parent: parent.pid } : {}),
  }
}
