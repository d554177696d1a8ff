import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Cursors } from '../../../src/command/output/cursors.ts'
import { tempFolder } from '../../temp-folder.ts'

const WEB = 'p_aaaaaaaaaaaa'
const BUILD = 'p_bbbbbbbbbbbb'

test('a cursor is kept per process and session, and outlives the daemon that set it', async () => {
  const folder = join(tempFolder(), 'cursors')
  const cursors = new Cursors(folder)
  expect(await cursors.get(WEB, 'anna')).toBe(null)
  await cursors.set(WEB, 'anna', 0)
  await cursors.set(WEB, 'ben/../../x', 7)
  await cursors.set(BUILD, 'anna', 123_456_789_012)
  const later = new Cursors(folder)
  expect(await later.get(WEB, 'anna')).toBe(0)
  expect(await later.get(WEB, 'ben/../../x')).toBe(7)
  expect(await later.get(BUILD, 'anna')).toBe(123_456_789_012)
  await later.set(WEB, 'anna', 99)
  expect(await cursors.get(WEB, 'anna')).toBe(99)
})

test('cursors are readable by their user alone, and leave no other file', async () => {
  const folder = tempFolder()
  const cursors = new Cursors(folder)
  await Promise.all(Array.from({ length: 50 }, (_, offset) => cursors.set(WEB, 'anna', offset)))
  const names = readdirSync(join(folder, WEB))
  expect(names).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)])
  expect(statSync(join(folder, WEB, names[0] ?? '')).mode & 0o777).toBe(0o600)
  expect(statSync(join(folder, WEB)).mode & 0o777).toBe(0o700)
})

test('a file that a power cut left empty is no cursor', async () => {
  const folder = tempFolder()
  const cursors = new Cursors(folder)
  await cursors.set(WEB, 'anna', 5)
  writeFileSync(join(folder, WEB, readdirSync(join(folder, WEB))[0] ?? ''), '')
  expect(await cursors.get(WEB, 'anna')).toBe(null)
})

test('a process that is forgotten takes its cursors with it, and no others', async () => {
  const folder = tempFolder()
  const cursors = new Cursors(folder)
  await cursors.set(WEB, 'anna', 5)
  await cursors.set(BUILD, 'anna', 6)
  await cursors.forget(WEB)
  await cursors.forget(WEB)
  expect(await cursors.get(WEB, 'anna')).toBe(null)
  expect(readdirSync(folder)).toEqual([BUILD])
})

test('a text that is no pid reaches no file', async () => {
  const folder = tempFolder()
  const cursors = new Cursors(join(folder, 'cursors'))
  await expect(cursors.set('..', 'anna', 5)).rejects.toThrow('is no pid')
  await expect(cursors.forget('../..')).rejects.toThrow('is no pid')
  expect(readdirSync(folder)).toEqual([])
})
