import { type Refusal, refusal } from '../refusal.ts'
import type { Owner, Scope } from './record.ts'
import type { ProcessRow } from './row.ts'

/** `keep`: the live process is the answer. `replace`: it has to end first. */
export type IfRunning = 'keep' | 'replace'

type Named = { readonly name?: string; readonly ifRunning?: IfRunning }

/** Decided before anything else. Null: no process is kept, or the request does not ask. A stopping process still lives. */
export function decideKept(
  running: ProcessRow | null,
  { name, ifRunning }: Named,
):
  | { readonly type: 'running'; readonly row: ProcessRow }
  | { readonly type: 'refuse'; readonly refusal: Refusal }
  | null {
  if (ifRunning !== undefined && name === undefined)
    return {
      type: 'refuse',
      refusal: refusal(
        'invalid_input',
        'ifRunning is about a name, and the request has none.',
        'Give a name.',
        {
          field: 'ifRunning',
        },
      ),
    }
  return running !== null && ifRunning === 'keep' ? { type: 'running', row: running } : null
}

/** The process that has to end before the new one can be registered. */
export function replacedBy(running: ProcessRow | null, { ifRunning }: Named): ProcessRow | null {
  return ifRunning === 'replace' ? running : null
}

/** Only for requests that would be registered after these have ended: no process is ended in vain. */
export function refuseInUse(inUse: readonly ProcessRow[]): Refusal | undefined {
  const pids = inUse.map(({ record }) => record.pid)
  const [first] = inUse
  if (first === undefined) return undefined
  const { pid, name } = first.record
  return refusal('name_in_use', `${pid} has the name ${name}, and has not ended.`, 'End it first.', {
    pid,
    pids,
  })
}

/** A replacing request must be the only one of its name: it would end a process that another one has just started. */
export function refuseSharedNames(
  requests: readonly (Named & { readonly owner: Owner })[],
): Refusal | undefined {
  const shared = requests.find(
    (one) =>
      one.ifRunning === 'replace' &&
      requests.some(
        (other) => other !== one && other.name === one.name && isSameScope(other.owner, one.owner),
      ),
  )
  if (shared === undefined) return undefined
  return refusal(
    'invalid_input',
    `Several of these requests have the name ${shared.name}, and one of them replaces what has it.`,
    'Give each its own name, or send them one after another.',
    { field: 'name' },
  )
}

/** Whether two owners share the scope in which names are compared: the session, or none. */
export function isSameScope(one: Owner, other: Owner): boolean {
  return one.session === other.session
}

/**
 * The inbox whose row is written with a registration that depends on a name. Two concurrent registrations both write it, so
 * that the later one is decided again and sees the earlier one.
 */
export function nameGuardOf({ session }: Owner): Scope {
  return session === undefined ? 'human:host' : `session:${session}`
}
