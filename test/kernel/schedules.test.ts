import { expect, onTestFinished, test } from 'vitest'
import { cronTimes } from '../../src/calendar/cron-times.ts'
import type { ScheduleDefinition } from '../../src/core/schedule/schedule.ts'
import type { Store } from '../../src/store/contract.ts'
import { openMemory } from '../../src/store/memory/open.ts'
import { simulatedClock } from '../../src/testing/simulated-clock.ts'
import { testKernel } from '../../src/testing/test-kernel.ts'
import { DyingStore } from '../dying-store.ts'

const DAY = 86_400_000

function nightly(more: Partial<ScheduleDefinition> = {}): ScheduleDefinition {
  return {
    times: { type: 'cron', cron: '30 2 * * *', zone: 'America/New_York' },
    ...{ jitterMs: 0, overlap: 'skip', catchUpMs: 3_600_000, pauseOnFailure: false },
    request: { kind: 'tool', spec: { tool: 'work' }, recovery: 'rerunnable' },
    ...more,
  }
}

/** The night of a Saturday in New York, before the clocks are set forward. */
const START = Date.parse('2026-03-07T12:00:00Z')
const MAX_COMMITS = 100

test('an occurrence of the night when clocks are set forward runs once, and the nights after it at their times', async () => {
  const clock = simulatedClock(START)
  const store = await openMemory()
  onTestFinished(() => store.close())
  const { kernel } = await testKernel(store, {
    ...{ id: 'k_one', clock, cron: cronTimes },
    script: async () => ({ status: 'completed' }),
  })
  onTestFinished(() => kernel.close())
  await kernel.schedules.add('host', 'nightly', nightly())
  const ran: string[] = []
  while (ran.length < 3) {
    const { next } = await kernel.schedules.show('host', 'nightly')
    clock.advance(Number(next?.at) - clock.now())
    ran.push(new Date(clock.now()).toISOString())
    await kernel.waits.forEnd(next?.pid ?? '', {})
  }
  expect(ran).toEqual(['2026-03-08T07:00:00.000Z', '2026-03-09T06:30:00.000Z', '2026-03-10T06:30:00.000Z'])
})

test('a schedule whose one time passes while it is added is refused, and not kept without a run', async () => {
  const clock = simulatedClock(START)
  const inner = await openMemory()
  onTestFinished(() => inner.close())
  // The time comes between the check of the definition and the transaction.
  const store: Store = {
    ...{ durability: inner.durability, blobs: inner.blobs, onCommit: (listener) => inner.onCommit(listener) },
    ...{ write: (plan) => inner.write(plan), close: () => inner.close() },
    ask: async (question) => {
      if (question.ask === 'schedule') clock.jump(60_000)
      return inner.ask(question)
    },
  }
  const { kernel } = await testKernel(store, {
    id: 'k_one',
    clock,
    script: async () => ({ status: 'completed' }),
  })
  onTestFinished(() => kernel.close())
  const once = nightly({ times: { type: 'at', at: START + 60_000 } })
  await expect(kernel.schedules.add('host', 'once', once)).rejects.toMatchObject({ code: 'invalid_input' })
  expect(await kernel.schedules.list(null, 10)).toEqual([])
})

const AUTUMN = Date.parse('2026-10-30T12:00:00Z')

test.each([
  {
    when: 'before',
    ...{ change: 'forward', start: START, cron: '30 2 * * *' },
    expected: ['2026-03-08T07:00', '2026-03-09T06:30', '2026-03-10T06:30', '2026-03-11T06:30'],
  },
  {
    when: 'after',
    ...{ change: 'back', start: AUTUMN, cron: '30 1 * * *' },
    expected: ['2026-10-31T05:30', '2026-11-01T05:30', '2026-11-02T06:30', '2026-11-03T06:30'],
  },
] as const)(
  'a kernel that dies $when any commit leaves each night to run once, while clocks are set $change',
  async ({ when, start, cron, expected }) => {
    let deaths = 0
    for (let commit = 1; commit <= MAX_COMMITS; commit++) {
      const clock = simulatedClock(start)
      const store = await openMemory()
      const dying = new DyingStore(store, { commit, when })
      const dyingNights = nights(dying.store, clock, { id: 'k_one', cron, until: 2 })
      const died = await Promise.race([dying.death.then(() => true), dyingNights])
      if (died) deaths += 1
      await nights(store, clock, { id: 'k_two', cron, until: 4 })
      const every = { filter: { status: 'any' }, after: null, limit: 100 } as const
      const { items } = await store.ask({ ask: 'processes', ...every })
      const ran = items.filter(({ record }) => record.outcome?.status === 'completed')
      const scheduled = ran.map(({ record }) => new Date(Number(record.causedBy?.['scheduledAt'])))
      expect(
        scheduled.map((time) => time.toISOString().slice(0, 16)),
        `${when} commit ${commit}`,
      ).toEqual(expected)
      expect(items.length - ran.length).toBe(1)
      await store.close()
      if (!died) break
    }
    expect(deaths).toBeGreaterThan(5)
    expect(deaths).toBeLessThan(MAX_COMMITS)
  },
)

/** Runs the nights up to this one with a kernel that goes on from an earlier, dead one. */
async function nights(
  store: Awaited<ReturnType<typeof openMemory>>,
  clock: ReturnType<typeof simulatedClock>,
  { id, cron, until }: { readonly id: string; readonly cron: string; readonly until: number },
): Promise<false> {
  const { kernel } = await testKernel(store, {
    ...{ id, clock, cron: cronTimes, seed: id.length, onTrouble: () => undefined },
    prove: (holder) => (holder.id === id ? 'alive' : 'dead'),
    script: async () => ({ status: 'completed' }),
  })
  await kernel.schedules.add(
    'host',
    'nightly',
    nightly({ catchUpMs: DAY, times: { type: 'cron', cron, zone: 'America/New_York' } }),
  )
  await kernel.sweep()
  for (;;) {
    const { next, running, counts } = await kernel.schedules.show('host', 'nightly')
    const [pid, at] =
      running[0] === undefined ? [next?.pid, next?.at] : [running[0].pid, clock.now() + 60_000]
    if (counts.started >= until && running.length === 0) return false
    clock.advance(Math.max(0, Number(at) - clock.now()))
    await kernel.waits.forEnd(pid ?? '', {})
  }
}
