import {
  type OccurrenceRequest,
  OVERLAPS,
  type ScheduleDefinition,
} from '../../../src/core/schedule/schedule.ts'
import type { TimesDefinition } from '../../../src/core/schedule/timetable.ts'
import type { Entry } from '../ledger.ts'
import type { Random } from '../random.ts'
import type { Request } from './intent.ts'
import { EVENT_TYPES } from './requests.ts'

/** Few, so that acts meet each other. */
const IDS = ['nightly', 'hourly', 'weekly'] as const
const SECOND = 1_000

export const schedules: readonly Request[] = [
  {
    name: 'add schedule',
    weight: 3,
    ask({ stage: { random } }, peer, track) {
      const id = random.pick(IDS)
      const definition = someDefinition(random, peer.clock.now())
      track(`${id} ${JSON.stringify(definition)}`, peer.kernel.schedules.add('host', id, definition))
    },
  },
  {
    name: 'edit schedule',
    weight: 3,
    ask({ stage: { random } }, peer, track) {
      const id = random.pick(IDS)
      const { times, overlap, catchUpMs, request, jitterMs } = someDefinition(random, peer.clock.now())
      const changes = random.pick([
        { times },
        { overlap },
        { catchUpMs },
        { request },
        { overlap, times },
        { jitterMs },
      ])
      track(`${id} ${JSON.stringify(changes)}`, peer.kernel.schedules.edit('host', id, changes))
    },
  },
  {
    name: 'pause schedule',
    weight: 1,
    ask({ stage: { random } }, peer, track) {
      const id = random.pick(IDS)
      track(id, peer.kernel.schedules.pause('host', id, null))
    },
  },
  {
    name: 'resume schedule',
    weight: 3,
    ask({ stage: { random } }, peer, track) {
      const id = random.pick(IDS)
      track(id, peer.kernel.schedules.resume('host', id))
    },
  },
  {
    name: 'run schedule',
    weight: 1,
    ask({ stage: { random } }, peer, track) {
      const id = random.pick(IDS)
      const key = random.maybe(0.5, () => `run ${random.between(1, 3)}`)
      track(id, peer.kernel.schedules.run('host', id, key))
    },
  },
  {
    name: 'backfill schedule',
    weight: 1.5,
    ask({ stage: { random }, scheduleLaws }, peer, track) {
      const schedule = random.pick(IDS)
      const until = peer.clock.now() - random.between(0, 5) * SECOND
      const from = until - random.between(1, 40) * SECOND
      const overlap = random.pick(['queue', 'allow'] as const)
      scheduleLaws.backfills.push({ schedule, from, until })
      track(
        `${schedule} ${from} ${until} ${overlap}`,
        peer.kernel.schedules.backfill('host', schedule, { from, until, overlap }),
      )
    },
  },
  {
    name: 'remove schedule',
    weight: 0.3,
    ask({ stage: { random } }, peer, track) {
      const id = random.pick(IDS)
      track(id, peer.kernel.schedules.remove('host', id))
    },
  },
  {
    name: 'stop an occurrence',
    weight: 2,
    ask(world, peer, track) {
      const { random } = world.stage
      const pid = world.somePid(isOccurrence)
      const how = random.pick(['cancel', 'kill'] as const)
      const asked = { pid, actor: 'host', at: peer.clock.now() } as const
      const stop = { type: 'stop', how, reason: 'asked', cause: null, replayKey: how } as const
      track(`${pid} ${how}`, peer.kernel.perform({ ...asked, ...stop }))
    },
  },
]

function isOccurrence({ record: { causedBy } }: Entry): boolean {
  return causedBy?.['schedule'] !== undefined || causedBy?.['trigger'] !== undefined
}

function someDefinition(random: Random, now: number): ScheduleDefinition {
  return {
    times: someTimes(random, now),
    jitterMs: random.pick([0, 0, 2 * SECOND]),
    overlap: random.pick(OVERLAPS),
    catchUpMs: random.pick([0, 2 * SECOND, 20 * SECOND, 3_600 * SECOND]),
    pauseOnFailure: random.chance(0.2),
    request: someOccurrence(random),
  }
}

function someTimes(random: Random, now: number): TimesDefinition {
  const type = random.weighted(['every', 'cron', 'at'] as const, (one) => TIMES_WEIGHTS[one])
  const end = random.maybe(0.1, () => now + random.between(5, 120) * SECOND)
  const start = random.maybe(0.2, () => now + random.between(-60, 20) * SECOND)
  const limits = { ...(end === undefined ? {} : { end }), ...(start === undefined ? {} : { start }) }
  switch (type) {
    case 'every':
      return { type, everyMs: random.between(2, 15) * SECOND, ...limits }
    case 'cron':
      return { type, cron: random.pick(['* * * * *', '*/2 * * * *']), zone: 'UTC', ...limits }
    case 'at':
      return { type, at: now + random.between(1, 30) * SECOND }
  }
}

const TIMES_WEIGHTS = { every: 8, cron: 2, at: 1 }

/** Often longer than the time to the next one. */
export function someOccurrence(random: Random): OccurrenceRequest {
  const input = {
    turns: random.between(0, 2),
    ms: random.pick([0, 0, 1_000, 5_000, 20_000]),
    fails: random.pick([0, 0, 0.3]),
  }
  return {
    kind: 'tool',
    spec: { tool: 'occur', input },
    eventTypes: EVENT_TYPES,
    recovery: random.pick(['rerunnable', 'rerunnable', 'bound']),
    limits: { attempts: random.between(1, 4) },
  }
}
