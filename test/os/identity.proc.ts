import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { bootId, pidNamespace } from '../../src/os/boot.ts'
import { isAlive, isPidInUse, startTimeOf, whoIs } from '../../src/os/identity.ts'
import { signalExact, signalVerified } from '../../src/os/signal.ts'
import { lives, TestProgram, until } from '../keeper/tree/program.ts'

test('boot and PID namespace are those of the system', () => {
  expect(bootId()).toMatch(/^[0-9a-f-]{36}$/)
  expect(pidNamespace()).toMatch(/^pid:\[\d+\]$/)
})

test('boot and start time tell whether a program is ours, a stranger, gone or unreadable', async () => {
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
  expect(isPidInUse(osPid!)).toBe(false)
  const identity = { osPid: osPid!, startTime, boot: bootId() }
  expect(whoIs(identity)).toBe('gone')
  expect(signalVerified(identity, 'SIGTERM')).toBe('gone')
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

test('a verified signal reaches the process with that boot, PID and start time, and no other', async () => {
  using started = new TestProgram('echo $$ >> "$PIDS"; exec sleep 300')
  const [osPid] = await started.whenThereAre(1)
  const { startTime, boot } = started.program
  const identity = { osPid: osPid!, startTime, boot }
  expect(signalVerified({ ...identity, startTime: String(Number(startTime) + 1) }, 'SIGKILL')).toBe(
    'stranger',
  )
  expect(signalVerified({ ...identity, boot: 'another' }, 'SIGKILL')).toBe('gone')
  expect(signalVerified({ ...identity, boot: '' }, 'SIGKILL')).toBe('unreadable')
  expect(signalVerified({ ...identity, startTime: null }, 'SIGKILL')).toBe('unreadable')
  expect(lives(osPid!)).toBe(true)
  expect(signalVerified(identity, 'SIGKILL')).toBe('sent')
  expect((await started.exited).signal).toBe('SIGKILL')
  expect(signalVerified(identity, 'SIGKILL')).toBe('gone')
})
