import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  announce,
  announceAgain,
  announcedDaemon,
  type RunningDaemon,
  withdraw,
} from '../../src/home/announced-daemon.ts'
import { type HomePaths, homePaths } from '../../src/home/paths.ts'
import { presentDaemon, readyDaemon } from '../../src/home/present-daemon.ts'
import { bootId } from '../../src/os/boot.ts'
import { startTimeOf } from '../../src/os/identity.ts'

let home: HomePaths

beforeEach(() => {
  home = homePaths(mkdtempSync(join(tmpdir(), 'reeve-home-')))
})

afterEach(() => rmSync(home.folder, { recursive: true, force: true }))

const daemon = (osPid: number): RunningDaemon => ({
  osPid,
  startTime: startTimeOf(osPid),
  bootId: bootId(),
  url: null,
  version: '0.0.0',
  startedAt: 1,
})

test('a daemon is present from its announcement until it withdraws', () => {
  expect(presentDaemon(home)).toBeNull()
  announce(home, daemon(process.pid))
  expect(readyDaemon(home)).toEqual(daemon(process.pid))
  withdraw(home)
  expect(announcedDaemon(home)).toBeNull()
})

test('a daemon that stops is present, and not ready', () => {
  announce(home, daemon(process.pid))
  announceAgain(home, { ...daemon(process.pid), stopping: true })
  expect(presentDaemon(home)).toMatchObject({ stopping: true })
  expect(readyDaemon(home)).toBeNull()
})

test('a process with the PID of a dead daemon is not that daemon', () => {
  announce(home, { ...daemon(process.pid), startTime: '1' })
  expect(announcedDaemon(home)).not.toBeNull()
  expect(presentDaemon(home)).toBeNull()
})

test('a daemon leaves the announcement of another one alone', () => {
  const other = daemon(process.ppid)
  announce(home, other)
  announceAgain(home, daemon(process.pid))
  withdraw(home)
  expect(announcedDaemon(home)).toEqual(other)
})

test('a truncated announcement counts as none', () => {
  writeFileSync(home.daemon, '{"osPid":')
  expect(announcedDaemon(home)).toBeNull()
})
