import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  bootId,
  isAlive,
  pidNamespace,
  signalExact,
  signalGroup,
  startTimeOf,
  statOf,
  whoIs,
} from '../../../src/keeper/tree/identity.ts'
import { lives, TestProgram, until } from './program.ts'

test('boot and PID namespace are those of the system', () => {
  expect(bootId()).toMatch(/^[0-9a-f-]{36}$/)
  expect(pidNamespace()).toMatch(/^pid:\[\d+\]$/)
})

test('a program is ours by boot and start time, and else a stranger, gone, or not to be told', async () => {
  using started = new TestProgram('echo $$ >> "$PIDS"; exec sleep 300')
  await started.whenThereAre(1)
  const { program } = started
  expect(whoIs(program)).toBe('ours')
  expect(whoIs({ ...program, startTime: String(Number(program.startTime) - 1) })).toBe('stranger')
  expect(whoIs({ ...program, startTime: null })).toBe('unreadable')
  expect(whoIs({ ...program, boot: '' })).toBe('unreadable')
  expect(whoIs({ ...program, boot: 'another' })).toBe('gone')
  process.kill(program.osPid, 'SIGKILL')
  await started.exited
  expect(whoIs(program)).toBe('gone')
  expect(startTimeOf(program.osPid)).toBeNull()
})

test('a zombie has a start time, and is not alive', async () => {
  // The shell's child ends after the shell has become another program, which never asks for it.
  using started = new TestProgram('sh -c \'echo $$ >> "$PIDS"\' & exec sleep 300')
  const [osPid] = await started.whenThereAre(1)
  await until('it is a zombie', () => /\) Z /.test(readFileSync(`/proc/${osPid}/stat`, 'utf8')))
  const startTime = startTimeOf(osPid!)
  expect(startTime).toMatch(/^\d+$/)
  expect(isAlive(osPid!, startTime!)).toBe(false)
  expect(signalExact(osPid!, startTime!, 'SIGTERM')).toBe(false)
})

test('a stranger under the same PID is not signalled', async () => {
  using stranger = new TestProgram('echo $$ >> "$PIDS"; exec sleep 300')
  const [osPid] = await stranger.whenThereAre(1)
  const startTime = stranger.program.startTime!
  expect(signalExact(osPid!, String(Number(startTime) + 1), 'SIGKILL')).toBe(false)
  expect(lives(osPid!)).toBe(true)
  expect(signalExact(osPid!, startTime, 'SIGKILL')).toBe(true)
  expect((await stranger.exited).signal).toBe('SIGKILL')
  expect(signalExact(osPid!, startTime, 'SIGKILL')).toBe(false)
})

test('no number that means a group, init or the keeper itself is signalled', () => {
  const own = startTimeOf(process.pid)!
  for (const osPid of [0, -1, 1, -process.pid, process.pid, Number.NaN, 1.5]) {
    expect(signalExact(osPid, own, 'SIGTERM'), String(osPid)).toBe(false)
  }
})

test('a signal to the group reaches its members and nobody who left it', async () => {
  using started = new TestProgram(`
    member='trap "echo heard >> heard" USR1; echo $$ >> "$PIDS"; while :; do sleep 0.01; done'
    sh -c "$member" &
    sh -c "$member" &
    setsid sh -c "$member" &
    trap "echo heard >> heard" USR1
    echo $$ >> "$PIDS"; while :; do sleep 0.01; done`)
  const osPids = await started.whenThereAre(4)
  expect(signalGroup({ ...started.program, startTime: '1' }, 'SIGUSR1')).toBe('not_ours')
  expect(signalGroup(started.program, 'SIGUSR1')).toBe('sent')
  await until('three have heard', () => (started.read('heard') ?? '').split('\n').length > 3)
  expect(started.read('heard')).toBe('heard\nheard\nheard\n')
  expect(osPids.filter(lives)).toHaveLength(4)
})

test('what is left of a group is signalled by its marker, and by nothing less', async () => {
  using started = new TestProgram('sh -c \'echo $$ >> "$PIDS"; exec sleep 300\' & wait $!; exit 0')
  const [osPid] = await started.whenThereAre(1)
  process.kill(started.program.osPid, 'SIGKILL')
  await started.exited
  expect(signalGroup(started.program, 'SIGKILL')).toBe('ended')
  expect(lives(osPid!)).toBe(true)
  expect(statOf(osPid!)?.group).toBe(started.program.osPid)
  expect(signalGroup(started.program, 'SIGKILL', started.marker)).toBe('sent')
  await until('it is gone', () => !lives(osPid!))
})
