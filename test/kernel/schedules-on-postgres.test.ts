import postgres from 'postgres'
import { afterAll, expect, inject, onTestFinished, test } from 'vitest'
import { cronTimes } from '../../src/calendar/cron-times.ts'
import type { ScheduleDefinition } from '../../src/core/schedule/schedule.ts'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { simulatedClock } from '../../src/testing/simulated-clock.ts'
import { testKernel } from '../../src/testing/test-kernel.ts'
import { newDatabase } from '../store/postgres/new-database.ts'

const sql = postgres(inject('postgresUrl'), { max: 1, onnotice: () => undefined })
afterAll(() => sql.end())

const DAY = 86_400_000
const NIGHTLY: ScheduleDefinition = {
  times: { type: 'cron', cron: '30 1 * * *', zone: 'America/New_York' },
  ...{ jitterMs: 0, overlap: 'skip', catchUpMs: DAY, pauseOnFailure: false },
  request: { kind: 'tool', spec: { tool: 'work' }, recovery: 'rerunnable' },
}

/** What happens before each night; the last ones are after the clocks were set. */
const LIVES = [
  {
    change: 'forward',
    start: '2026-03-06T12:00:00Z',
    expected: ['03-07T06:30', '03-08T06:30', '03-09T05:30', '03-12T05:30', '03-13T05:30', '03-14T05:30'],
  },
  {
    change: 'back',
    start: '2026-10-30T12:00:00Z',
    expected: ['10-31T05:30', '11-01T05:30', '11-02T06:30', '11-05T06:30', '11-06T06:30', '11-07T06:30'],
  },
] as const

test.each(LIVES)(
  'two kernels on one PostgreSQL run each night once while clocks are set $change, after jumps, sleep and an edit while due',
  { timeout: 120_000 },
  async ({ start, expected }) => {
    const { url, drop } = await newDatabase(sql)
    onTestFinished(drop)
    const clock = simulatedClock(Date.parse(start))
    const kernels = await Promise.all(
      ['k_one', 'k_two'].map(async (id) => {
        const store = await openPostgres(url, { maxConnections: 3 })
        const script = async () => ({ status: 'completed' }) as const
        const { kernel } = await testKernel(store, {
          id,
          clock,
          cron: cronTimes,
          script,
          seed: id.length + id.charCodeAt(2),
        })
        onTestFinished(async () => {
          await kernel.close()
          await store.close()
        })
        return kernel
      }),
    )
    const [one, two] = kernels
    if (one === undefined || two === undefined) throw new Error('There are no two kernels')
    await one.schedules.add('host', 'nightly', NIGHTLY)
    const next = async () => (await two.schedules.show('host', 'nightly')).next
    /** Both look for work at once, until all that is due has ended. */
    const settled = async () => {
      for (;;) {
        await Promise.all(kernels.map((kernel) => kernel.sweep()))
        const { next: following, running } = await one.schedules.show('host', 'nightly')
        const isDue = following !== null && following.at <= clock.now()
        const pid = running[0]?.pid ?? (isDue ? following.pid : undefined)
        if (pid === undefined) return
        await one.waits.forEnd(pid, {})
      }
    }
    const night = async () => {
      clock.advance(Math.max(0, Number((await next())?.at) - clock.now()))
      await settled()
    }
    await night()
    // A night's time comes twice by the clock.
    clock.jump(-3_600_000)
    await Promise.all(kernels.map((kernel) => kernel.sweep()))
    clock.jump(3_600_000)
    await night()
    await night()
    // Asleep for three nights and some hours: the last one runs.
    clock.jump(3 * DAY + 3_600_000)
    await settled()
    await night()
    // Due, and edited before a kernel sees that.
    const due = await next()
    clock.jump(Number(due?.at) + 1 - clock.now())
    await two.schedules.edit('host', 'nightly', { overlap: 'queue' })
    await settled()
    const { items } = await one.edges.store.ask({
      ...{ ask: 'processes', filter: { status: 'any' }, after: null, limit: 100 },
    } as const)
    const ran = items.filter(({ record }) => record.outcome?.status === 'completed')
    const times = ran.map(({ record }) =>
      new Date(Number(record.causedBy?.['scheduledAt'])).toISOString().slice(5, 16),
    )
    expect(times).toEqual(expected)
  },
)
