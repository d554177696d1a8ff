import { type Refusal, refusal } from '../refusal.ts'
import type { Owner, Scope } from './record.ts'
import type { ProcessRow } from './row.ts'

/** `keep`: the process that lives is the answer. `replace`: it has to be ended first. */
export type IfRunning = 'keep' | 'replace'

type Named = { readonly name?: string; readonly ifRunning?: IfRunning }

/** Null: there is none, or the request does not ask. A process that is stopping still lives. */
export function decideRunning(
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
  if (running === null || ifRunning === undefined) return null
  if (ifRunning === 'keep') return { type: 'running', row: running }
  const { pid } = running.record
  const message = `${pid} has the name ${name}, and has not ended.`
  return { type: 'refuse', refusal: refusal('name_in_use', message, 'End it first.', { pid }) }
}

/** Whether a process of this owner is in the scope in which names are compared: the session, or none. */
export function isSameScope(one: Owner, other: Owner): boolean {
  return one.session === other.session
}

/**
 * The inbox whose row is written with a registration that depends on a name. Two such registrations at once both write it, so
 * that the later one is decided again and sees the earlier.
 */
export function nameGuardOf({ session }: Owner): Scope {
  return session === undefined ? 'human:host' : `session:${session}`
}
