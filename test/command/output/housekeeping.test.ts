import { existsSync, mkdirSync, readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { dropOutput, pruneOutput, sizesOf } from '../../../src/command/output/housekeeping.ts'
import { layoutOf } from '../../../src/command/output/layout.ts'
import { tempFolder } from '../../temp-folder.ts'
import { LogWriter } from './log-writer.ts'

const OLD = 'p_aaaaaaaaaaaa'
const NEW = 'p_bbbbbbbbbbbb'
const LIVE = 'p_cccccccccccc'

function threeLogs() {
  const output = tempFolder()
  new LogWriter(join(output, LIVE)).write(Buffer.alloc(50_000, 1))
  new LogWriter(join(output, NEW)).write(Buffer.alloc(20_000, 1))
  new LogWriter(join(output, OLD)).write(Buffer.alloc(30_000, 1)).note('time', 5)
  return output
}

const endedOldestFirst = async () => [OLD, NEW]

test('sizes are known per process, with the index', async () => {
  expect(await sizesOf(threeLogs())).toEqual(
    new Map([
      [OLD, 30_016],
      [NEW, 20_000],
      [LIVE, 50_000],
    ]),
  )
  expect(await sizesOf(join(tempFolder(), 'nowhere'))).toEqual(new Map())
})

test('bytes that were freed in place no longer count', async () => {
  const output = tempFolder()
  const log = new LogWriter(join(output, OLD), { headBytes: 1 << 30 }).write(Buffer.alloc(1 << 20, 1))
  // A file that is made longer has a hole there, as one has that was freed in place.
  truncateSync(join(log.folder, '000000000000000'), 1 << 21)
  expect((await sizesOf(output)).get(OLD)).toBe(1 << 20)
})

test('the logs that ended longest ago go first, and only until it is enough', async () => {
  const output = threeLogs()
  expect(await pruneOutput(output, { totalBytes: 75_000, finished: endedOldestFirst })).toEqual({
    dropped: [OLD],
    freedBytes: 30_016,
    totalBytes: 70_000,
  })
  expect(readdirSync(output).sort()).toEqual([NEW, LIVE])
})

test('the log of one that has not ended stays, however large', async () => {
  const output = threeLogs()
  expect(await pruneOutput(output, { totalBytes: 10, finished: endedOldestFirst })).toMatchObject({
    dropped: [OLD, NEW],
    totalBytes: 50_000,
  })
  expect(readdirSync(output)).toEqual([LIVE])
})

test('below the cap no process is looked up and nothing is dropped', async () => {
  const output = threeLogs()
  const finished = () => Promise.reject(new Error('asked'))
  expect(await pruneOutput(output, { totalBytes: 200_000, finished })).toMatchObject({ dropped: [] })
  expect(readdirSync(output).length).toBe(3)
})

test('pids in an answer that were not asked about are not dropped', async () => {
  const output = threeLogs()
  mkdirSync(join(output, 'notes'))
  const finished = async () => ['notes', '..', OLD]
  expect(await pruneOutput(output, { totalBytes: 10, finished })).toMatchObject({ dropped: [OLD] })
  expect(readdirSync(output)).toContain('notes')
})

test('a log is dropped once, and then is not there', async () => {
  const output = threeLogs()
  await dropOutput(output, OLD)
  await dropOutput(output, OLD)
  expect(await layoutOf(join(output, OLD))).toBe(null)
  await expect(dropOutput(output, '..')).rejects.toThrow('is no pid')
  expect(existsSync(output)).toBe(true)
})

test('the next pruning removes a log that a dead daemon deleted in part', async () => {
  const output = threeLogs()
  mkdirSync(join(output, `${OLD}.dropped`))
  writeFileSync(join(output, `${OLD}.dropped`, '000000000000000'), 'rest')
  await pruneOutput(output, { totalBytes: 1e9, finished: endedOldestFirst })
  expect(readdirSync(output).sort()).toEqual([OLD, NEW, LIVE])
})
