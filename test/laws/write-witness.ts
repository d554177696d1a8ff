import { isDeepStrictEqual } from 'node:util'
import { evolve } from '../../src/core/process/evolve.ts'
import type { ProcessRecord } from '../../src/core/process/record.ts'
import type { Change, Store } from '../../src/store/contract.ts'

type ProcessChange = Extract<Change, { type: 'process' }>

/** Wraps a store, and checks every committed change of a process: its record must be the fold of its events. */
export class WriteWitness {
  /** Changes that broke the law, in words. */
  readonly violations: string[] = []
  /** Types of all events that were committed. */
  readonly eventTypes = new Set<string>()
  readonly store: Store

  constructor(inner: Store) {
    const write: Store['write'] = async (plan) => {
      let changes: readonly Change[] = []
      const answer = await inner.write(function* () {
        const verdict = yield* plan()
        // A plan may be run again. The last run is the one that is committed.
        changes = verdict.changes
        return verdict
      })
      for (const change of changes) if (change.type === 'process') this.#check(change)
      return answer
    }
    this.store = new Proxy(inner, {
      get(target, name) {
        if (name === 'write') return write
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }

  #check({ was, row, events }: ProcessChange): void {
    const { pid } = row.record
    const folded = events.reduce<ProcessRecord | null>(
      (record, event) => evolve(record, event),
      was?.record ?? null,
    )
    if (!isDeepStrictEqual(folded, row.record))
      this.violations.push(`${pid}: the record is not the fold of ${listed(events)}`)
    const first = (was?.record.revision ?? 0) + 1
    if (events.some(({ pid: of, seq }, index) => of !== pid || seq !== first + index))
      this.violations.push(`${pid}: ${listed(events)} are not numbered from ${first} on`)
    for (const { type } of events) this.eventTypes.add(type)
  }
}

function listed(events: ProcessChange['events']): string {
  return events.length === 0 ? 'no events' : events.map(({ type, seq }) => `${type} (${seq})`).join(', ')
}
