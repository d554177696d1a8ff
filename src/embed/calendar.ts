import { loadCronTimes } from '../calendar/load.ts'
import type { CronTimetable, Timetable } from '../core/schedule/timetable.ts'
import type { Store } from '../store/contract.ts'

/** Thrown within a plan, which the store of `withCalendar` repeats. */
const NOT_LOADED = new Error('The calendar is not loaded')

/** Parsed expressions that are kept: each costs about 100 µs. */
const MAX_KEPT = 1_000

/** Computes cron expressions. Its library is loaded with the first one. */
export class Calendar {
  #times: CronTimetable | undefined
  readonly #kept = new Map<string, Timetable>()

  readonly cron: CronTimetable = (cron, zone) => {
    if (this.#times === undefined) throw NOT_LOADED
    const key = `${zone} ${cron}`
    const known = this.#kept.get(key)
    if (known !== undefined) return known
    const parsed = this.#times(cron, zone)
    if (this.#kept.size >= MAX_KEPT) this.#kept.clear()
    this.#kept.set(key, parsed)
    return parsed
  }

  async load(): Promise<void> {
    if (this.#times === undefined) this.#times = (await loadCronTimes()).cronTimes
  }
}

/** A store whose plans may compute cron expressions: the first one that does is run again once the library is loaded. */
export function withCalendar(store: Store, calendar: Calendar): Store {
  const { durability, blobs, locks, releaseSpace } = store
  return {
    durability,
    blobs,
    ...(locks === undefined ? {} : { locks }),
    ...(releaseSpace === undefined ? {} : { releaseSpace: () => releaseSpace.call(store) }),
    ask: (question) => store.ask(question),
    write: (plan) =>
      store.write(plan).catch((error: unknown) => {
        if (error !== NOT_LOADED) throw error
        return calendar.load().then(() => store.write(plan))
      }),
    onCommit: (listener) => store.onCommit(listener),
    close: () => store.close(),
  }
}
