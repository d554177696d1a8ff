import type { ProcessRecord } from './record.ts'
import type { RegistrationRequest } from './register.ts'

/** The same once more, under what of its surroundings is still there. */
export function restartRequest(old: ProcessRecord, hasParent: boolean): RegistrationRequest {
  const { kind, spec, name, owner, lifetime, recovery, placement, envRef, cwd, eventTypes, wakeTarget } = old
  // What was given may have been half of what was left: given back since, it is asked for again.
  const { allowance, ...limits } = old.limits
  return {
    ...{ kind, spec, owner, lifetime, recovery, eventTypes, limits, restartOf: old.pid },
    ...{ label: old.identity.label, definition: old.identity.definition, replyTo: old.replyTo },
    ...(allowance === undefined ? {} : { allowance }),
    ...(name === null ? {} : { name }),
    ...(placement === null ? {} : { placement }),
    ...(envRef === null ? {} : { envRef }),
    ...(cwd === null ? {} : { cwd }),
    ...(wakeTarget === null ? {} : { wakeTarget }),
    ...(hasParent && old.parent !== null ? { parent: old.parent } : {}),
  }
}
