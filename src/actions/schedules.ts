import type { Schedule, ScheduleDefinition } from '../core/schedule/schedule.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { OutputOf, ParsedInputOf } from '../verbs/reeve.ts'
import { type ActionParts, type ActionsFor, permitOnStore } from './action.ts'
import { occurrenceRequestOf, shownProcess } from './occurrence-request.ts'

/** Of computed times in an answer. */
const SHOWN_TIMES = 5
/** How late an occurrence may start, unless the schedule says otherwise. */
const CATCH_UP_MS = 3_600_000

export function scheduleActions(
  parts: ActionParts,
): ActionsFor<
  | 'addSchedule'
  | 'editSchedule'
  | 'pauseSchedule'
  | 'resumeSchedule'
  | 'runSchedule'
  | 'backfillSchedule'
  | 'removeSchedule'
  | 'schedule'
  | 'schedules'
> {
  const { kernel, actor } = parts
  const { store } = kernel.edges
  const shown = (schedule: Schedule) => shownSchedule(kernel, schedule)
  return {
    addSchedule: async ({ schedule: id, times, process: asked, ...given }) =>
      shown(
        await kernel.schedules.add(actor, id, {
          jitterMs: 0,
          overlap: 'skip',
          catchUpMs: CATCH_UP_MS,
          pauseOnFailure: false,
          ...given,
          times: inZone(times),
          request: await occurrenceRequestOf(
            parts,
            asked,
            (await store.ask({ ask: 'schedule', id }))?.request ?? null,
          ),
        }),
      ),
    editSchedule: async ({ schedule: id, times, process: asked, ...given }) =>
      shown(
        await kernel.schedules.edit(actor, id, {
          ...given,
          ...(times === undefined ? {} : { times: inZone(times) }),
          ...(asked === undefined ? {} : { request: await occurrenceRequestOf(parts, asked, null) }),
        }),
      ),
    pauseSchedule: async ({ schedule: id, note }) =>
      shown(await kernel.schedules.pause(actor, id, note ?? null)),
    resumeSchedule: async ({ schedule: id }) => shown(await kernel.schedules.resume(actor, id)),
    async runSchedule({ schedule: id, idempotencyKey }) {
      return { record: (await kernel.schedules.run(actor, id, idempotencyKey)).record }
    },
    backfillSchedule: async ({ schedule: id, ...asked }) =>
      shown(await kernel.schedules.backfill(actor, id, asked)),
    async removeSchedule({ schedule: id }) {
      await kernel.schedules.remove(actor, id)
      return { removed: true }
    },
    schedule: async ({ schedule: id }) => shown(await kernel.schedules.show(actor, id)),
    async schedules({ after, limit }) {
      permitOnStore(parts, 'read')
      const found = await kernel.schedules.list(after ?? null, limit)
      return { schedules: await Promise.all(found.map(shown)) }
    },
  }
}

async function shownSchedule(kernel: Kernel, schedule: Schedule): Promise<OutputOf<'schedule'>> {
  const { key: _, ceilings: __, gap: ___, decidedThrough: ____, ...known } = schedule
  const { request, next, running, backfill, ...rest } = known
  return {
    ...rest,
    process: shownProcess(request),
    next: next === null ? null : { pid: next.pid, at: next.at },
    running: running.map(({ pid, at }) => ({ pid, at })),
    backfill: backfill === null ? null : { pid: backfill.pid, at: backfill.at, until: backfill.until },
    upcoming: schedule.paused === null ? await kernel.schedules.upcoming(schedule, SHOWN_TIMES) : [],
  }
}

/** The zone is stored: the daemon, or the machine that it runs on, may change it later. */
function inZone(times: ParsedInputOf<'addSchedule'>['times']): ScheduleDefinition['times'] {
  return times.type === 'cron' ? { ...times, zone: times.zone ?? ownZone() } : times
}

function ownZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}
