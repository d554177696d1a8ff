import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { attend } from '../../../src/command/attend/attend.ts'
import { Cursors } from '../../../src/command/output/cursors.ts'
import { ReeveError, StoreError } from '../../../src/core/errors.ts'
import { FLOOD_LIMITS } from '../../../src/core/inbox/flood.ts'
import type { Work } from '../../../src/kernel/executor.ts'
import type { Kernel } from '../../../src/kernel/kernel.ts'
import { type SimulatedClock, simulatedClock } from '../../../src/testing/simulated-clock.ts'
import { tempFolder } from '../../temp-folder.ts'
import { LogWriter } from '../output/log-writer.ts'

const PID = 'p_000000000001'

/** An observed command, with a clock that the test moves, and the events that are written for it. */
function attended(
  spec: object,
  refuse: () => boolean | ReeveError = () => false,
  before: (log: LogWriter, clock: SimulatedClock) => void = () => {},
) {
  const folder = tempFolder()
  const log = new LogWriter(join(folder, 'output', PID))
  const clock = simulatedClock()
  const createdAt = clock.now()
  before(log, clock)
  let set = 0
  const counted = {
    now: () => clock.now(),
    after: (ms: number, task: () => void) => {
      set += 1
      return clock.after(ms, task)
    },
  }
  let grew = () => {}
  const written: { type: string }[] = []
  const troubles: string[] = []
  const record = {
    pid: PID,
    kind: 'command',
    spec,
    watches: {},
    readiness: null,
    firstStarted: null,
    createdAt,
    cwd: null,
  }
  const kernel = {
    edges: { clock: counted, rules: { flood: FLOOD_LIMITS }, store: { ask: async () => ({ record }) } },
    async performAs(_work: unknown, intent: { type: string }) {
      const refused = refuse()
      if (refused === true) throw new StoreError('store_unavailable', 'The store is away.', 'Wait.')
      if (refused !== false) throw refused
      written.push(intent)
    },
  } as unknown as Kernel
  const attendance = attend({ record } as unknown as Work, kernel, {
    output: join(folder, 'output'),
    cursors: new Cursors(join(folder, 'cursors')),
    surroundings: async () => ({ shell: '/bin/sh', cwd: folder, env: {} }),
    follow: (told) => {
      grew = told
      return () => {}
    },
    masking: async () => null,
    onTrouble: (error) => troubles.push(String(error)),
  })
  onTestFinished(() => attendance?.stop())
  return { log, clock, written, troubles, attendance, timers: () => set, grew: () => grew() }
}

test('a heartbeat is sent at most once per interval, and only with new output', async () => {
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

test('a heartbeat goes on after a disk that failed for a while', async () => {
  const { log, clock, written, troubles, timers } = attended({ run: 'x', heartbeatMs: 60_000 })
  await expect.poll(timers).toBe(1)
  log.write('some')
  renameSync(log.folder, `${log.folder}.away`)
  writeFileSync(log.folder, '')
  clock.advance(60_000)
  await expect.poll(() => troubles).toHaveLength(1)
  await expect.poll(timers).toBe(2)
  rmSync(log.folder)
  renameSync(`${log.folder}.away`, log.folder)
  clock.advance(60_000)
  await expect.poll(() => written).toEqual([{ type: 'beat', outputBytes: 4, newBytes: 4 }])
})

test('a held line is reported when its window is over, even if nothing more is printed', async () => {
  const { log, clock, written, timers, grew } = attended({ run: 'x', watch: [{ text: 'ERROR' }] })
  const lines = () => written.map((intent) => (intent as { match?: { lines: string[] } }).match?.lines)
  log.write('ERROR 1\n')
  grew()
  await expect.poll(lines).toEqual([['ERROR 1']])
  log.write('ERROR 2\nfine\nERROR 3\n')
  grew()
  await expect.poll(timers).toBe(1)
  clock.advance(FLOOD_LIMITS.everyMs - 1)
  expect(lines()).toHaveLength(1)
  clock.advance(1)
  await expect.poll(lines).toEqual([['ERROR 1'], ['ERROR 2', 'ERROR 3']])
})

test('observations made while the store was unavailable are written when it is back', async () => {
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

test('a notice that the store can never hold is not retried for ever, and is counted at the end', async () => {
  const { log, troubles, attendance } = attended(
    { run: 'x', watch: [{ text: 'ERR' }] },
    () => new ReeveError('invalid_input', 'It cannot hold this.', 'Look at it.'),
  )
  log.write('ERR one')
  expect(await attendance?.finish(log.end)).toMatchObject({ missed: { ERR: { from: 0, to: 7 } } })
  expect(troubles).toHaveLength(1)
})

test('a command without watches, readiness or heartbeat is not observed', () => {
  expect(attended({ run: 'x' }).attendance).toBeNull()
})

const READY = { run: 'x', ready: { log: 'ready', timeoutMs: 1_000 } }

test('a daemon that starts after the readiness timeout scans first: only a line that came in time counts', async () => {
  for (const [after, timeoutMs] of [
    [500, null],
    [1_500, 1_000],
  ] as const) {
    const { written } = attended(READY, undefined, (log, clock) => {
      log
        .write('a beginning\n')
        .note('time', clock.now() + after)
        .write('server ready')
      clock.advance(60_000)
    })
    await expect.poll(() => written).toMatchObject([{ type: 'settle_readiness', timeoutMs }])
  }
})

test('a daemon that starts after the readiness timeout tries once before it gives up', async () => {
  const ready = { command: 'true', timeoutMs: 1 }
  const { written } = attended({ run: 'x', ready }, undefined, (_, clock) => clock.advance(60_000))
  await expect.poll(() => written).toMatchObject([{ type: 'settle_readiness', timeoutMs: null }])
})

test('a log without the line is scanned to its end before a readiness timeout is reported', async () => {
  const { written, clock } = attended(READY, undefined, (log, clock) => {
    log.write('nothing\n'.repeat(100_000))
    clock.advance(60_000)
  })
  const seen = () => {
    clock.advance(250)
    return written
  }
  await expect.poll(seen).toMatchObject([{ type: 'settle_readiness', timeoutMs: 1_000 }])
})

test('the last words are seen without a newline, and are readiness', async () => {
  const { log, written, attendance } = attended(READY)
  log.write('it is ready')
  await attendance?.finish(log.end)
  expect(written).toMatchObject([{ type: 'settle_readiness', timeoutMs: null }])
})

test('an unreadable log is given up some time after the end, and the missed bytes are reported', async () => {
  const watch = [{ text: 'ERR', name: 'errors' }, { text: 'fine' }]
  const { log, clock, written, troubles, attendance } = attended({ run: 'x', watch })
  log.write('ERR one\n')
  await expect.poll(() => written).toHaveLength(1)
  const [segment] = log.segments()
  const path = join(log.folder, String(segment))
  log.write('ERR two\n')
  renameSync(path, `${path}.away`)
  mkdirSync(path)
  const finished = attendance?.finish(log.end)
  let isFinished = false
  void finished?.finally(() => {
    isFinished = true
  })
  await expect
    .poll(() => {
      clock.advance(5_000)
      return isFinished
    })
    .toBe(true)
  const missed = { from: 8, to: 16 }
  expect(await finished).toMatchObject({ missed: { errors: missed, fine: missed } })
  expect(troubles.length).toBeGreaterThan(1)
})
