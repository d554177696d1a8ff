import { getEventListeners } from 'node:events'
import { rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Followed, followOutput } from '../../../src/command/output/follow.ts'
import { tempFolder } from '../../temp-folder.ts'
import { countingBytes, LogWriter, seeded } from './log-writer.ts'

/** Nudges the current waiter, and remembers none: as lossy as a real nudge. */
class Nudges {
  #waiting: (() => void)[] = []
  asked = 0

  readonly wake = () => {
    this.asked++
    return new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  nudge() {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}

const soon = () => new Promise<void>((resolve) => setImmediate(resolve))
const running = () => null
const { signal: never } = new AbortController()

async function collect(following: AsyncGenerator<Followed>) {
  const all: Followed[] = []
  for await (const part of following) all.push(part)
  return {
    text: Buffer.concat(all.map(({ bytes }) => bytes)).toString(),
    gaps: all.map(({ gap }) => gap),
    all,
  }
}

test('a process that has ended is followed to its end, and no further', async () => {
  const { folder } = new LogWriter(tempFolder()).write('all of it, and late')
  const options = { from: 4, signal: never, wake: soon, ended: () => 9 }
  expect((await collect(followOutput(folder, options))).text).toBe('of it')
})

test('output that is written before the wait begins is not missed', async () => {
  const log = new LogWriter(tempFolder()).write('one')
  const nudges = new Nudges()
  let final: number | null = null
  const following = followOutput(log.folder, {
    from: 0,
    signal: never,
    wake: nudges.wake,
    ended: () => final,
  })
  expect((await following.next()).value?.bytes.toString()).toBe('one')
  log.write(' two')
  nudges.nudge()
  expect((await following.next()).value?.bytes.toString()).toBe(' two')
  const third = following.next()
  log.write(' three')
  nudges.nudge()
  expect((await third).value?.bytes.toString()).toBe(' three')
  const end = following.next()
  final = log.end
  nudges.nudge()
  expect(await end).toEqual({ done: true, value: undefined })
})

test('a follower that catches up asks for one nudge, not for one per chunk', async () => {
  const { folder } = new LogWriter(tempFolder()).write(countingBytes(0, 1_000_000))
  const nudges = new Nudges()
  const following = followOutput(folder, { from: 0, signal: never, wake: nudges.wake, ended: running })
  for (let at = 0; at < 1_000_000; ) {
    const { value } = await following.next()
    expect(value?.bytes.length).toBeLessThanOrEqual(65_536)
    at += value?.bytes.length ?? 0
  }
  expect(nudges.asked).toBe(1)
  await following.return(undefined)
})

test('a follower that is aborted while it waits ends at once, and leaves nothing at the signal', async () => {
  const { folder } = new LogWriter(tempFolder())
  const abort = new AbortController()
  const { signal } = abort
  const nudges = new Nudges()
  const end = followOutput(folder, { from: 0, signal, wake: nudges.wake, ended: running }).next()
  for (let round = 0; round < 50; round++) {
    nudges.nudge()
    await soon()
  }
  abort.abort()
  expect(await end).toEqual({ done: true, value: undefined })
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test('a failing nudge rejects for the consumer', async () => {
  const { folder } = new LogWriter(tempFolder())
  const wake = () => Promise.reject(new Error('the keeper is gone'))
  const following = followOutput(folder, { from: 0, signal: never, wake, ended: running })
  await expect(following.next()).rejects.toThrow('the keeper is gone')
})

test('a follower names the gap it met, also one that reaches to the end', async () => {
  const caps = { headBytes: 20, tailBytes: 40, segmentBytes: 20 }
  const { folder } = new LogWriter(tempFolder(), caps).write(countingBytes(0, 130))
  const follow = (final: number) =>
    collect(followOutput(folder, { from: 10, signal: never, wake: soon, ended: () => final }))
  const whole = await follow(130)
  expect(whole.text).toBe(countingBytes(10, 20).toString() + countingBytes(80, 130).toString())
  expect(whole.gaps).toEqual([null, { from: 20, to: 80 }, null, null])
  expect((await follow(60)).all).toEqual([
    { offset: 10, bytes: countingBytes(10, 20), gap: null },
    { offset: 60, bytes: Buffer.alloc(0), gap: { from: 20, to: 60 } },
  ])
})

test('a log that was dropped is one gap up to where the process ended', async () => {
  const folder = join(tempFolder(), 'dropped')
  const { all } = await collect(followOutput(folder, { from: 3, signal: never, wake: soon, ended: () => 10 }))
  expect(all).toEqual([{ offset: 10, bytes: Buffer.alloc(0), gap: { from: 3, to: 10 } }])
})

test('the last bytes may be written after the end is known, but not long after', async () => {
  const log = new LogWriter(tempFolder()).write('abc')
  const options = { from: 0, signal: never, wake: soon, ended: () => 6 }
  const following = followOutput(log.folder, options)
  await following.next()
  const rest = following.next()
  await soon()
  log.write('def')
  expect((await rest).value).toEqual({ offset: 3, bytes: Buffer.from('def'), gap: null })
  expect((await following.next()).done).toBe(true)

  const short = await collect(followOutput(log.folder, { ...options, ended: () => 9 }))
  expect(short.text).toBe('abcdef')
  expect(short.gaps).toEqual([null, { from: 6, to: 9 }])
})

test('a log that its program truncates is followed from where it is written on', async () => {
  const log = new LogWriter(tempFolder()).write('before')
  const nudges = new Nudges()
  const following = followOutput(log.folder, { from: 0, signal: never, wake: nudges.wake, ended: running })
  await following.next()
  truncateSync(join(log.folder, '000000000000000'), 0)
  const next = following.next()
  while (nudges.asked < 2) {
    nudges.nudge()
    await soon()
  }
  log.write('after')
  nudges.nudge()
  expect((await next).value).toEqual({ offset: 0, bytes: Buffer.from('after'), gap: null })
  await following.return(undefined)
})

test('followers of a log that is written meanwhile get every byte once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ minLength: 1, maxLength: 200 }), { maxLength: 20 }),
      fc.nat(300),
      fc.nat(1000),
      async (writes, start, seed) => {
        const random = seeded(seed)
        const whole = Buffer.concat(writes)
        const from = Math.min(start, whole.length)
        const log = new LogWriter(tempFolder(), { headBytes: 50, segmentBytes: 50 })
        const nudges = new Nudges()
        let final: number | null = null
        const follow = () =>
          collect(followOutput(log.folder, { from, signal: never, wake: nudges.wake, ended: () => final }))
        // They may begin behind the end, and then wait until the log has come there.
        let at = Math.min(from, random(from + 1))
        if (at > 0) log.write(whole.subarray(0, at))
        const followers = [follow(), follow()]
        while (at < whole.length) {
          const to = Math.min(whole.length, at + 1 + random(120))
          log.write(whole.subarray(at, to))
          at = to
          nudges.nudge()
          if (random(2) === 0) await soon()
        }
        final = whole.length
        let isDone = false
        const done = Promise.all(followers).finally(() => {
          isDone = true
        })
        while (!isDone) {
          nudges.nudge()
          await soon()
        }
        for (const { all, gaps } of await done) {
          expect(Buffer.concat(all.map(({ bytes }) => bytes)).equals(whole.subarray(from))).toBe(true)
          expect(gaps.every((gap) => gap === null)).toBe(true)
        }
      },
    ),
    { numRuns: 100 },
  )
})

test.each([1, 2, 3])(
  'a slow follower of a log that rotates gets real bytes and every gap (seed %i)',
  async (seed) => {
    const random = seeded(seed)
    for (let round = 0; round < 60; round++) {
      const segmentBytes = 20 + random(200)
      const log = new LogWriter(tempFolder(), {
        headBytes: 50,
        segmentBytes,
        tailBytes: segmentBytes * (1 + random(3)),
      })
      const nudges = new Nudges()
      let final: number | null = null
      const writing = (async () => {
        while (log.end < 5000) {
          log.write(countingBytes(log.end, log.end + 1 + random(300)))
          nudges.nudge()
          if (random(2) === 0) await soon()
        }
        final = log.end
      })()
      const wake = () => Promise.race([nudges.wake(), soon()])
      let at = 0
      for await (const { offset, bytes, gap } of followOutput(log.folder, {
        from: 0,
        signal: never,
        wake,
        ended: () => final,
      })) {
        expect(gap).toEqual(offset > at ? { from: at, to: offset } : null)
        expect(bytes.equals(countingBytes(offset, offset + bytes.length))).toBe(true)
        at = offset + bytes.length
        for (let slow = random(4); slow > 0; slow--) await soon()
      }
      await writing
      expect(at).toBe(final)
    }
  },
)

test('a log that is dropped while it is followed ends with a gap', async () => {
  const log = new LogWriter(tempFolder()).write('abc')
  let final: number | null = null
  const following = followOutput(log.folder, { from: 0, signal: never, wake: soon, ended: () => final })
  await following.next()
  rmSync(log.folder, { recursive: true })
  final = 7
  expect((await following.next()).value).toMatchObject({ offset: 7, gap: { from: 3, to: 7 } })
  expect((await following.next()).done).toBe(true)
})
