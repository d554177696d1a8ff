import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { bootId } from '../../src/os/boot.ts'
import { startTimeOf } from '../../src/os/identity.ts'
import { killGroupOf, signalExact, signalVerified } from '../../src/os/signal.ts'
import { statOf } from '../../src/os/stat.ts'

/** Records signals instead of sending them. */
function recorder() {
  const calls: [number, string][] = []
  return { calls, kill: (target: number, signal: string) => calls.push([target, signal]) }
}

async function sleeper(options: { detached: boolean }) {
  const child = spawn('sleep', ['300'], { stdio: 'ignore', ...options })
  const gone = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await gone
  })
  await once(child, 'spawn')
  return child
}

const FORBIDDEN: [string, number][] = [
  ['0', 0],
  ['-1', -1],
  ['1', 1],
  ['-2', -2],
  ['the own PID', process.pid],
  ['minus the own PID', -process.pid],
  ['NaN', Number.NaN],
  ['1.5', 1.5],
  ['infinity', Number.POSITIVE_INFINITY],
]

test.each(FORBIDDEN)('%s is never signalled as a process', (_name, osPid) => {
  const { calls, kill } = recorder()
  const startTime = startTimeOf(process.pid)!
  expect(signalExact(osPid, startTime, 'SIGTERM', kill)).toBe(false)
  expect(signalVerified({ osPid, startTime, boot: bootId() }, 'SIGTERM', kill)).toBe('forbidden')
  expect(calls).toEqual([])
})

test.each([...FORBIDDEN, ['the own group', statOf(process.pid)!.group] as [string, number]])(
  '%s is never signalled as a group',
  (_name, pid) => {
    const { calls, kill } = recorder()
    expect(killGroupOf({ pid, exitCode: null, signalCode: null }, kill)).toBe(false)
    expect(calls).toEqual([])
  },
)

test('the group of a child is signalled while the child is not reaped, if it leads its own', async () => {
  const { calls, kill } = recorder()
  const leader = await sleeper({ detached: true })
  const member = await sleeper({ detached: false })
  const { pid } = leader
  expect(killGroupOf({ pid, exitCode: 0, signalCode: null }, kill)).toBe(false)
  expect(killGroupOf({ pid, exitCode: null, signalCode: 'SIGKILL' }, kill)).toBe(false)
  expect(killGroupOf({ pid: undefined, exitCode: null, signalCode: null }, kill)).toBe(false)
  expect(killGroupOf(member, kill)).toBe(false)
  expect(calls).toEqual([])
  expect(killGroupOf(leader, kill)).toBe(true)
  expect(calls).toEqual([[-pid!, 'SIGKILL']])
})

test('a signal that the system forbids, or that comes too late, was not sent', async () => {
  const child = await sleeper({ detached: false })
  const identity = { osPid: child.pid!, startTime: startTimeOf(child.pid!), boot: bootId() }
  const failing = (code: string) => () => {
    throw Object.assign(new Error(code), { code })
  }
  expect(signalVerified(identity, 'SIGTERM', failing('EPERM'))).toBe('forbidden')
  expect(signalVerified(identity, 'SIGTERM', failing('ESRCH'))).toBe('gone')
})
