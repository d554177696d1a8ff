import { RefusedError } from '../core/errors.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor, ProcessRecord } from '../core/process/record.ts'
import { refusal } from '../core/refusal.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { prunedPid } from '../kernel/perform.ts'
import { refuseRead, resolve } from '../kernel/resolve.ts'
import type { CallOptions, OutputOf, ParsedInputOf, VerbName } from '../verbs/reeve.ts'

type Act<Name extends VerbName> = (
  input: ParsedInputOf<Name>,
  options: CallOptions,
) => Promise<OutputOf<Name>>

export type ActsFor<Names extends VerbName> = { readonly [Name in Names]: Act<Name> }

/** Reads a process by pid, beginning of one, or name, if the actor may see it. */
export function readerFor(kernel: Kernel, actor: Actor): (text: string) => Promise<ProcessRecord> {
  const { edges } = kernel
  return async (text) => {
    const pid = await resolve(edges, actor, text)
    const row = await edges.store.ask({ ask: 'process', pid })
    if (row === null) throw new RefusedError(await gone(kernel, pid))
    const denied = await refuseRead(edges, actor, row.record)
    if (denied !== undefined) throw new RefusedError(denied)
    return row.record
  }
}

async function gone(kernel: Kernel, pid: Pid) {
  const tombstone = await kernel.edges.store.ask({ ask: 'tombstone', pid })
  return tombstone === null
    ? refusal('unknown_pid', `There is no process ${pid}.`, 'List the processes to see which there are.')
    : prunedPid(pid)
}
