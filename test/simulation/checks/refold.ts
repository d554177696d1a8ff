import { evolve } from '../../../src/core/process/evolve.ts'
import type { ProcessRecord } from '../../../src/core/process/record.ts'
import { type Check, type Entry, type Ledger, same } from '../ledger.ts'
import type { Stage } from '../stage.ts'

/** The record is the fold of its events, field by field, and the columns beside it agree. */
export function checkRefold(stage: Stage, ledger: Ledger): Check {
  const look = (entry: Entry) => {
    const row = ledger.observer.ask({ ask: 'process', pid: entry.pid })
    if (row === null) {
      stage.violated('no lost acknowledged write', `${entry.pid} is not in the file`)
      return
    }
    const { record } = row
    if (!same(record, entry.record))
      stage.violated('refold', `${entry.pid} differs from its events in ${differing(record, entry.record)}`)
    const found = ledger.observer.columns(entry.pid)
    if (!fitsDue(entry, found['due'])) stage.violated('refold', `${entry.pid}: column due is ${found['due']}`)
    const columns = columnsOf(entry)
    for (const name of Object.keys(columns)) {
      if (name in found && found[name] !== columns[name])
        stage.violated(
          'refold',
          `${entry.pid}: column ${name} is ${found[name]}, and should be ${columns[name]}`,
        )
    }
  }

  return {
    committed(touched) {
      for (const entry of touched) look(entry)
    },
    full() {
      const { items } = ledger.observer.ask({
        ask: 'processes',
        filter: { status: 'any' },
        after: null,
        limit: 10_000,
      })
      for (const { record } of items)
        if (!ledger.processes.has(record.pid))
          stage.violated('one write path', `${record.pid} is in the file, and no commit wrote it`)
      for (const entry of ledger.processes.values()) {
        look(entry)
        const record = ledger.observer
          .eventsOf(entry.pid)
          .reduce<ProcessRecord | null>((folded, event) => evolve(folded, event), null)
        if (!same(record, entry.record)) stage.violated('refold', `${entry.pid} folds to something else now`)
      }
    },
  }
}

/** Set while the process may be claimed: to the time from which it may, or to a time in the past. */
function fitsDue({ record, row }: Entry, due: unknown): boolean {
  // A parked process: the earliest time that it waits for.
  if (record.parked && record.status === 'waiting') {
    const times = [record.wait, ...record.moreWaits].flatMap((wait) => wait?.until ?? [])
    return due === (times.length === 0 ? null : Math.min(...times))
  }
  const claimable = row.holder === null && record.status === 'queued' && record.recovery !== 'external'
  if (!claimable) return due === null
  return record.retryAt === null ? Number(due ?? Number.NaN) <= record.createdAt : due === record.retryAt
}

function columnsOf({ record, row }: Entry): Readonly<Record<string, unknown>> {
  return {
    revision: record.revision,
    fence: row.fence,
    holder: row.holder,
    carry: row.carry,
    kind: record.kind,
    target: targetOf(record),
    name: record.name,
    parent: record.parent,
    root: record.root,
    session: record.owner.session ?? null,
    wake_target: record.wakeTarget,
    created_at: record.createdAt,
    ended_at: record.outcome?.endedAt ?? null,
  }
}

/** The column that claims are found by. */
function targetOf({ kind, spec }: ProcessRecord): unknown {
  if (kind === 'agent') return typeof spec['model'] === 'string' ? 'native' : null
  return kind === 'tool' || kind === 'workflow' ? (spec[kind] ?? null) : null
}

function differing(a: ProcessRecord, b: ProcessRecord): string {
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]) as Set<keyof ProcessRecord>
  return [...keys].filter((key) => !same(a[key] ?? null, b[key] ?? null)).join(', ')
}
