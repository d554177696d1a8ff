import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { attend } from '../../../src/command/attend/attend.ts'
import { Cursors } from '../../../src/command/output/cursors.ts'
import { StoreError } from '../../../src/core/errors.ts'
import { FLOOD_LIMITS } from '../../../src/core/inbox/flood.ts'
import type { Work } from '../../../src/kernel/executor.ts'
import type { Kernel } from '../../../src/kernel/kernel.ts'
import { simulatedClock } from '../../../src/testing/simulated-clock.ts'
import { tempFolder } from '../../temp-file.ts'
import { LogWriter } from '../output/log-writer.ts'

const PID = 'p_000000000001'

/** A command that somebody attends to, with time that the test moves; what is written of it. */
function attended(spec: object, refuse: () => boolean = () => false) {
  const folder = tempFolder()
  const log = new LogWriter(join(folder, 'output', PID))
  const clock = simulatedClock()
  let set = 0
  const counted = {
    now: () => clock.now(),
    after: (ms: number, task: () => void) => {
      set += 1
      return clock.after(ms, task)
    },
  }
  const written: { type: string }[] = []
  const troubles: string[] = []
  const record = {
    pid: PID,
    spec,
    watches: {},
    readiness: null,
    firstStarted: null,
    createdAt: clock.now(),
    cwd: null,
  }
  const kernel = {
    edges: { clock: counted, rules: { flood: FLOOD_LIMITS }, store: { ask: async () => ({ record }) } },
    async performAs(_work: unknown, intent: { type: string }) {
      if (refuse()) throw new StoreError('store_unavailable', 'The store is away.', 'Wait.')
      written.push(intent)
    },
  } as unknown as Kernel
  const attendance = attend({ record } as unknown as Work, kernel, {
    ...{ output: join(folder, 'output'), cursors: new Cursors(join(folder, 'cursors')) },
    surroundings: async () => ({ shell: '/bin/sh', cwd: folder, env: {} }),
    follow: () => () => {},
    masking: async () => null,
    onTrouble: (error) => troubles.push(String(error)),
  })
  onTestFinished(() => attendance?.stop())
  return { log, clock, written, troubles, attendance, timers: () => set }
}

test('a heartbeat is told at most as often as was asked for, and only with new output', async () => {
  const { log, clock, written, timers } = attended({ run: 'x', heartbeatMs: 60_000 })
  // A timer is set each time after it has looked.
  const looked = (times: number) => expect.poll(timers).toBe(times + 1)
  await looked(0)
  clock.advance(60_000)
  await looked(1)
  expect(written).toEqual([])
  log.write('some')
  clock.advance(59_999)
  expect(timers()).toBe(2)
  clock.advance(1)
  await looked(2)
  expect(written).toEqual([{ type: 'beat', outputBytes: 4, newBytes: 4 }])
  clock.advance(60_000)
  await looked(3)
  expect(written).toHaveLength(1)
})

test('what was seen while the store was away is written when it is back', async () => {
  let isAway = true
  const { log, clock, written, troubles, attendance, timers } = attended(
    { run: 'x', watch: [{ text: 'ERR' }] },
    () => isAway,
  )
  log.write('ERR one')
  const finished = attendance?.finish(log.end)
  await expect.poll(() => troubles.length).toBe(1)
  expect(written).toEqual([])
  isAway = false
  await expect.poll(timers).toBe(1)
  clock.advance(500)
  await finished
  expect(written).toMatchObject([{ type: 'match', match: { lines: ['ERR one'], offset: 0, end: 7 } }])
})

test('whoever asks for nothing is not attended to', () => {
  expect(attended({ run: 'x' }).attendance).toBeNull()
})
