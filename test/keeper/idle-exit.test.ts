import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { IdleExit } from '../../src/keeper/idle-exit.ts'

const LINGER_MS = 3000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** An idle exit without a keeper. `there` has the programs, the daemon and the number of exits. */
function lingeringKeeper() {
  const there = { programs: 0, daemon: false, gone: 0 }
  const stay = new IdleExit({
    lingerMs: LINGER_MS,
    keeps: () => there.programs > 0,
    hasDaemon: () => there.daemon,
    go: async () => {
      there.gone += 1
    },
  })
  const daemonComes = () => {
    there.daemon = true
    stay.serve()
  }
  const connectionEnds = () => {
    there.daemon = false
    stay.look()
  }
  const programs = (count: number) => {
    there.programs = count
    stay.look()
  }
  stay.begin(LINGER_MS)
  return { there, stay, daemonComes, connectionEnds, programs }
}

test('without a daemon and programs a keeper lingers, and then goes', () => {
  const { there } = lingeringKeeper()
  vi.advanceTimersByTime(LINGER_MS - 1)
  expect(there.gone).toBe(0)
  vi.advanceTimersByTime(1)
  expect(there.gone).toBe(1)
})

test('a keeper whose daemon was killed lingers for the next', () => {
  const { there, daemonComes, connectionEnds } = lingeringKeeper()
  daemonComes()
  connectionEnds()
  expect(there.gone).toBe(0)
  daemonComes()
  vi.advanceTimersByTime(10 * LINGER_MS)
  expect(there.gone).toBe(0)
})

test('a keeper whose daemon took leave exits with its last program, without waiting for another daemon', () => {
  const { there, stay, daemonComes, connectionEnds, programs } = lingeringKeeper()
  daemonComes()
  programs(1)
  stay.leave()
  connectionEnds()
  vi.advanceTimersByTime(10 * LINGER_MS)
  expect(there.gone).toBe(0)
  programs(0)
  expect(there.gone).toBe(1)
})

test('a program that still works when its daemon leaves keeps the keeper only until it ends', () => {
  const { there, stay, daemonComes, connectionEnds, programs } = lingeringKeeper()
  daemonComes()
  programs(1)
  stay.leave()
  programs(0)
  expect(there.gone).toBe(0)
  connectionEnds()
  expect(there.gone).toBe(1)
})

test('a daemon that came after one that took leave is waited for as the first was', () => {
  const { there, stay, daemonComes, connectionEnds, programs } = lingeringKeeper()
  daemonComes()
  programs(1)
  stay.leave()
  connectionEnds()
  daemonComes()
  programs(0)
  connectionEnds()
  expect(there.gone).toBe(0)
  vi.advanceTimersByTime(LINGER_MS)
  expect(there.gone).toBe(1)
})
