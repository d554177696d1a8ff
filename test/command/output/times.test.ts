import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { offsetAt, timeOf } from '../../../src/command/output/times.ts'
import { tempFolder } from '../../temp-folder.ts'
import { LogWriter } from './log-writer.ts'

test('the time of a byte is that of the last entry before it', async () => {
  const log = new LogWriter(tempFolder()).note('time', 1000, 0).note('time', 2000, 50).note('time', 3000, 90)
  const times = await Promise.all([0, 49, 50, 89, 90, 5000].map((offset) => timeOf(log.folder, offset)))
  expect(times).toEqual([1000, 1000, 2000, 2000, 3000, 3000])
})

test('the offset of a time lies before all output of that time and later', async () => {
  const log = new LogWriter(tempFolder()).note('time', 1000, 0).note('time', 2000, 50).note('time', 3000, 90)
  const offsets = await Promise.all(
    [500, 1000, 1001, 1999, 2000, 2500, 3000, 9000].map((time) => offsetAt(log.folder, time)),
  )
  expect(offsets).toEqual([0, 0, 0, 0, 50, 50, 90, 90])
})

test('sizes of the window and entries of an unknown sort are passed over', async () => {
  const log = new LogWriter(tempFolder()).resize(80, 24).note('time', 1000, 0)
  for (let count = 0; count < 600; count++) log.note('size', 80 * 65_536 + 24, 10)
  const unknown = Buffer.alloc(16)
  unknown.writeBigUInt64LE(20n * 256n + 99n)
  appendFileSync(join(log.folder, 'index'), unknown)
  log.note('stderr', 2000, 30)
  for (let count = 0; count < 600; count++) log.note('size', 80 * 65_536 + 24, 40)
  expect(await timeOf(log.folder, 29)).toBe(1000)
  expect(await timeOf(log.folder, 35)).toBe(2000)
  expect(await timeOf(log.folder, 1000)).toBe(2000)
  expect(await offsetAt(log.folder, 1500)).toBe(0)
  expect(await offsetAt(log.folder, 2000)).toBe(30)
})

test('each of thousands of entries is found', async () => {
  const log = new LogWriter(tempFolder())
  for (let entry = 0; entry < 3000; entry++) log.note('time', 1000 + entry * 10, entry * 7)
  for (let entry = 0; entry < 3000; entry += 113) {
    expect(await timeOf(log.folder, entry * 7 + 6)).toBe(1000 + entry * 10)
    expect(await offsetAt(log.folder, 1000 + entry * 10 + 9)).toBe(entry * 7)
  }
})

test('an entry that is not written to its end does not count', async () => {
  const log = new LogWriter(tempFolder()).note('time', 1000, 0)
  appendFileSync(join(log.folder, 'index'), Buffer.alloc(9, 1))
  expect(await timeOf(log.folder, 1e9)).toBe(1000)
})

test('without an index no time is known, and all may have come at any', async () => {
  const { folder } = new LogWriter(tempFolder()).write('x')
  expect(await timeOf(folder, 0)).toBe(null)
  expect(await offsetAt(folder, 1000)).toBe(0)
  writeFileSync(join(folder, 'index'), '')
  expect(await timeOf(folder, 0)).toBe(null)
  expect(await offsetAt(folder, 1000)).toBe(0)
})
