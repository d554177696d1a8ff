import type { StoredEvent } from '../../../src/core/process/event.ts'
import type { Check, Entry, Ledger } from '../ledger.ts'
import { same } from '../ledger.ts'
import type { Stage } from '../stage.ts'

/** The log: positions rise, `seq` has no gaps, one end and nothing after it, and no event ever changes. */
export function checkEvents(stage: Stage, ledger: Ledger): Check {
  let position = 0

  const follows = (event: StoredEvent, last: StoredEvent | undefined) => {
    if (event.position <= position)
      stage.violated('monotone positions', `${event.position} of ${event.pid} comes after ${position}`)
    position = event.position
    if (event.seq !== (last?.seq ?? 0) + 1)
      stage.violated('gapless seq', `${event.pid} goes from ${last?.seq ?? 0} to ${event.seq}`)
    if (event.at < (last?.at ?? 0))
      stage.violated('time within a process never runs back', `${event.pid} at seq ${event.seq}`)
  }

  return {
    process({ row }, before, stored) {
      const { pid } = row.record
      let last = before?.events.at(-1)
      let ended = before?.events.some((event) => endsOf(before, event)) ?? false
      if (before === undefined && ledger.pruned.has(pid))
        stage.violated('a pruned pid is never used again', pid)
      if (before === undefined && stored[0]?.type !== 'registered')
        stage.violated('a process begins with its registration', pid)
      for (const event of stored) {
        follows(event, last)
        if (ended) stage.violated('the end is final', `${pid} has ${event.type} (${event.seq}) after its end`)
        ended ||= endsOf(before ?? { record: row.record }, event)
        last = event
      }
      underLiveParent(stage, ledger, stored)
    },

    committed(touched) {
      const { position: counted } = ledger.observer.ask({
        ask: 'changes',
        after: Number.MAX_SAFE_INTEGER,
        limit: 1,
      })
      const activity = ledger.observer.ask({ ask: 'activity', session: null, since: null })
      if (counted !== ledger.position)
        stage.violated('monotone positions', `the counter says ${counted}, the log ${ledger.position}`)
      const live = [...ledger.processes.values()].filter(({ record }) => record.outcome === null).length
      if (activity.live !== live)
        stage.violated('activity counts what lives', `the counter says ${activity.live}, ${live} live`)
      for (const { pid, record } of touched) oneOutcome(stage, pid, record)
    },

    full() {
      const all = ledger.observer.eventsAfter(0)
      const kept = ledger.log.filter(({ pid }) => ledger.processes.has(pid))
      if (all.length !== kept.length)
        stage.violated(
          'no lost acknowledged write',
          `${kept.length} events were committed, ${all.length} are there`,
        )
      for (const [index, event] of kept.entries()) {
        if (same(all[index] ?? null, event)) continue
        stage.violated(
          'no lost acknowledged write',
          `the event at position ${event.position} is not as it was written`,
        )
        return
      }
    },
  }
}

function endsOf({ record }: Pick<Entry, 'record'>, event: StoredEvent): boolean {
  return event.type === 'ended' || record.eventTypes[event.type]?.end !== undefined
}

function oneOutcome(stage: Stage, pid: string, record: Entry['record']): void {
  const over = ['completed', 'failed', 'cancelled', 'abandoned'].includes(record.status)
  if (over !== (record.outcome !== null) || (over && record.outcome?.status !== record.status))
    stage.violated(
      'one outcome',
      `${pid} is ${record.status} with the outcome ${record.outcome?.status ?? 'none'}`,
    )
  const { outcome, stopRequest } = record
  if (outcome?.evidence !== 'process_gone') return
  const status = stopRequest?.deliveredAt === undefined ? 'abandoned' : 'cancelled'
  if (outcome.status !== status)
    stage.violated('never invent an outcome', `${pid} was seen gone: ${outcome.status}, not ${status}`)
}

/** No process is registered under a parent that has a stop request or has ended. */
function underLiveParent(stage: Stage, ledger: Ledger, stored: readonly StoredEvent[]): void {
  for (const event of stored) {
    if (event.type !== 'registered') continue
    const { parent } = event.payload as { parent: string | null }
    const known = parent === null ? undefined : ledger.processes.get(parent)
    if (known === undefined) continue
    if (known.record.outcome !== null || known.record.stopRequest !== null)
      stage.violated('nothing is registered under a stopped parent', `${event.pid} under ${parent}`)
  }
}
