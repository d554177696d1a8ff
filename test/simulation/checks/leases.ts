import type { StoredEvent } from '../../../src/core/process/event.ts'
import type { Check, Entry, Ledger, ProcessChange } from '../ledger.ts'
import { payloadOf } from '../payload.ts'
import type { Stage } from '../stage.ts'

/** Fences only rise, every change of a lease is recorded, and a stale fence writes nothing. */
export function checkLeases(stage: Stage, ledger: Ledger): Check {
  /** Holders whose row was removed. */
  const gone = new Set<string>()
  return {
    process(change, before, stored) {
      const { pid } = change.row.record
      decidedOnFacts(stage, change, before)
      handsOver(stage, pid, before?.row ?? { holder: null, fence: 0 }, change.row)
      for (const event of stored) written(stage, before, change, event)
      for (const event of stored) {
        const holder = payloadOf(event, 'started')?.holder
        if (holder !== undefined && gone.has(holder))
          stage.violated('a removed holder begins nothing', `${holder} began ${pid}`)
      }
    },

    other(change) {
      if (change.type === 'holder') gone.delete(change.holder.id)
      if (change.type === 'holder_gone') gone.add(change.id)
      if (change.type === 'holder' && ledger.removed.has(change.holder.id))
        stage.violated('a removed holder does not come back', change.holder.id)
      if (change.type !== 'prune') return
      for (const { pid, fence } of change.tombstones) {
        const entry = ledger.processes.get(pid)
        if (entry !== undefined && fence < entry.row.fence)
          stage.violated(
            'fences never go backwards',
            `the tombstone of ${pid} has ${fence}, it had ${entry.row.fence}`,
          )
      }
    },
  }
}

type Lease = { readonly holder: string | null; readonly fence: number }

/** The store's promise: the facts of a plan still held when it was committed. */
function decidedOnFacts(stage: Stage, { was, row }: ProcessChange, before: Entry | undefined): void {
  const told = was === null ? 'none' : `${was.record.revision}/${was.holder}/${was.fence}/${was.carry}`
  const true_ =
    before === undefined
      ? 'none'
      : `${before.record.revision}/${before.row.holder}/${before.row.fence}/${before.row.carry}`
  if (told !== true_)
    stage.violated('decided on facts that hold', `${row.record.pid} was ${true_}, the plan was told ${told}`)
}

function handsOver(stage: Stage, pid: string, from: Lease, to: Lease): void {
  const broke = (what: string) => stage.violated('fences never go backwards', `${pid}: ${what}`)
  if (to.fence < from.fence) broke(`from ${from.fence} to ${to.fence}`)
  const step = to.fence - from.fence
  if (from.holder === null && to.holder !== null && step !== 1) broke(`claimed with ${from.fence} + ${step}`)
  if (to.holder === null && step > 0) broke(`freed with ${from.fence} + ${step}`)
  if (from.holder !== null && from.holder === to.holder && step > 1)
    broke(`kept with ${from.fence} + ${step}`)
  if (from.holder !== null && to.holder !== null && from.holder !== to.holder)
    stage.violated('one executor', `${pid} passed from ${from.holder} to ${to.holder} without recovery`)
}

/** Events that only a holder may write were written by the holder, under a fence that it had all along. */
function written(stage: Stage, before: Entry | undefined, { row }: ProcessChange, event: StoredEvent): void {
  const { pid } = event
  const lease: Lease = before?.row ?? row
  const broke = (what: string) =>
    stage.violated('one executor', `${pid} (${event.seq}, ${event.type}): ${what}`)
  const payload = event.payload as Readonly<Record<string, unknown>>
  switch (event.type) {
    case 'started':
      if (row.holder !== payload['holder']) broke(`started by ${payload['holder']}, held by ${row.holder}`)
      return
    case 'wait_entered':
      if (lease.holder === null) broke('entered without a holder')
      if (!event.replayKey?.endsWith(`:${lease.fence}`))
        broke(`entered as ${event.replayKey}, under ${lease.fence}`)
      return
    case 'wait_left':
      // An answer, a signal, a message, or the end of a child for which its parent was parked.
      if (
        lease.holder === null &&
        !['answered', 'signal', 'message', 'ended'].includes(String(payload['how']))
      )
        broke('left without a holder')
      return
    case 'holder_lost':
    case 'released':
      if (lease.holder !== payload['holder']) broke(`lost by ${payload['holder']}, held by ${lease.holder}`)
      return
    case 'ended':
      endedUnder(before, lease, event, broke)
      return
  }
}

const EXECUTORS_END = /^(?:end|kill):(\d+)$/
const SETTLED_END = /^(?:abandon|give_up|settle_stop|release):(\d+)$/

function endedUnder(
  before: Entry | undefined,
  lease: Lease,
  { actor, replayKey }: StoredEvent,
  broke: (what: string) => void,
): void {
  const settled = SETTLED_END.exec(replayKey ?? '')
  if (settled !== null && Number(settled[1]) !== lease.fence)
    broke(`settled under fence ${settled[1]}, which is ${lease.fence} now`)
  const executed = EXECUTORS_END.exec(replayKey ?? '')
  if (executed === null || !actor.startsWith('kernel:')) return
  const holder = actor.slice('kernel:'.length)
  if (lease.holder !== holder) broke(`completed by ${holder}, held by ${lease.holder}`)
  // A holder that had lapsed goes on under a higher fence, if no other holder had one in between.
  for (let fence = Number(executed[1]); fence <= lease.fence; fence++) {
    const had = before?.granted.get(fence)
    if (had !== holder) broke(`completed by ${holder}, but fence ${fence} belonged to ${had ?? 'no holder'}`)
  }
}
