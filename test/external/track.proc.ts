import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import type { ProcessRecord } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import type { TrackedProcess } from '../../src/core/process/tracked.ts'
import { embedTemp } from '../embed-temp.ts'
import { tempStore } from '../temp-folder.ts'
import { OsProgram } from './os-program.ts'
import { Crashed, codeOf, deliveredTo, endedRecord } from './reeve.ts'

const identityOf = (record: ProcessRecord) => record.spec['process'] as unknown as TrackedProcess

test('a tracked process runs, and carries boot, PID and start time', async () => {
  const program = await OsProgram.start('SIGTERM')
  const reeve = await embedTemp()
  const { type, record } = await reeve.track({ osPid: program.osPid, name: 'db', label: 'database' })
  expect(type).toBe('registered')
  expect(record).toMatchObject({
    ...{ kind: 'external', name: 'db', status: 'running', lifetime: 'detached', recovery: 'external' },
    identity: { label: 'database' },
    spec: { description: `node (PID ${program.osPid})` },
  })
  expect(identityOf(record as ProcessRecord)).toMatchObject({
    ...{ osPid: program.osPid, startTime: expect.stringMatching(/^\d+$/) },
    ...{ boot: expect.stringMatching(/^[0-9a-f-]{36}$/), host: expect.stringMatching(/^[0-9a-f]{24}$/) },
  })
})

test.each([
  ['interrupt', 'SIGINT'],
  ['cancel', 'SIGTERM'],
] as const)('%s reaches a tracked process as %s, and its end is seen', async (how, signal) => {
  const program = await OsProgram.start(signal)
  const reeve = await embedTemp()
  const { pid } = (await reeve.track({ osPid: program.osPid })).record
  const { type: answer, record } = await reeve.signal({ pid, signal: how, reason: 'enough' })
  expect([answer, record.stopRequest?.deliveredAt !== undefined || record.outcome !== null]).toEqual([
    'signalled',
    true,
  ])
  await program.got(signal)
  const { outcome } = await endedRecord(reeve, pid)
  expect(outcome).toMatchObject({
    ...{ status: 'cancelled', reason: 'enough', source: 'host', evidence: 'process_gone', exitCode: null },
  })
})

test('a tracked process that ends by itself is abandoned: how it ended is not known', async () => {
  const program = await OsProgram.start()
  const reeve = await embedTemp()
  const { pid } = (await reeve.track({ osPid: program.osPid })).record
  await program.end()
  const { outcome } = await endedRecord(reeve, pid)
  expect(outcome).toMatchObject({
    ...{ status: 'abandoned', evidence: 'process_gone', exitCode: null, signal: null, source: null },
  })
  expect(await reeve.signal({ pid, signal: 'cancel' })).toMatchObject({ type: 'already_ended' })
})

test('a tracked process that has become a zombie has ended', async () => {
  // The shell becomes a program that never reaps the child it started.
  const parent = spawn('sh', ['-c', 'sleep 300 & echo $!; exec sleep 300'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  })
  const parentExit = once(parent, 'exit')
  onTestFinished(async () => {
    parent.kill('SIGKILL')
    await parentExit
  })
  const [printed] = (await once(parent.stdout, 'data')) as [Buffer]
  const osPid = Number(printed.toString())
  const reeve = await embedTemp()
  const { pid } = (await reeve.track({ osPid })).record
  expect((await reeve.signal({ pid, signal: 'cancel' })).type).toBe('signalled')
  expect((await endedRecord(reeve, pid)).outcome).toMatchObject({ status: 'cancelled' })
  expect(await codeOf(reeve.track({ osPid }))).toBe('not_trackable')
})

test('a kill asks first, and forces when the grace is over', async () => {
  const program = await OsProgram.start()
  const reeve = await embedTemp()
  const { pid } = (await reeve.track({ osPid: program.osPid })).record
  const { type: answer, record } = await reeve.kill({ pid, graceMs: 300 })
  expect([answer, record.outcome?.status]).toEqual(['ended', 'cancelled'])
  await program.exited
  expect(program.child.signalCode).toBe('SIGKILL')
  const { events } = await reeve.events({ pid })
  expect(events.map(({ type }) => type)).toEqual([
    ...['registered', 'started', 'stop_requested', 'stop_delivered', 'ended'],
  ])
})

test('a kill without a grace never forces', async () => {
  const program = await OsProgram.start()
  const reeve = await embedTemp()
  const { pid } = (await reeve.track({ osPid: program.osPid })).record
  expect((await reeve.kill({ pid, graceMs: 0 })).type).toBe('asked')
  await program.got('SIGTERM')
  expect(program.isRunning).toBe(true)
})

test('a kill of a process whose end was not noticed yet finds it ended', async () => {
  const program = await OsProgram.start()
  const reeve = await embedTemp()
  const { pid } = (await reeve.track({ osPid: program.osPid })).record
  await program.end()
  const { type: answer, record } = await reeve.kill({ pid })
  expect(['ended', 'already_ended']).toContain(answer)
  expect(record.outcome).toMatchObject({ status: 'abandoned', evidence: 'process_gone' })
})

test('pause stops a tracked process, and resume lets it continue', async () => {
  const program = await OsProgram.start()
  const reeve = await embedTemp()
  const { pid } = (await reeve.track({ osPid: program.osPid })).record
  expect(await reeve.signal({ pid, signal: 'pause' })).toMatchObject({
    ...{ type: 'signalled', record: { status: 'paused' } },
  })
  await expect.poll(() => program.state, { timeout: 45_000 }).toBe('T')
  expect(await reeve.signal({ pid, signal: 'resume' })).toMatchObject({
    ...{ type: 'signalled', record: { status: 'running' } },
  })
  await program.got('SIGCONT')
  expect(await codeOf(reeve.signal({ pid, signal: 'resume' }))).toBe('not_paused')
})

test('a stop reaches a paused process', async () => {
  const program = await OsProgram.start('SIGTERM')
  const reeve = await embedTemp()
  const { pid } = (await reeve.track({ osPid: program.osPid })).record
  await reeve.signal({ pid, signal: 'pause' })
  await expect.poll(() => program.state, { timeout: 45_000 }).toBe('T')
  expect((await reeve.signal({ pid, signal: 'cancel' })).type).toBe('signalled')
  expect((await endedRecord(reeve, pid)).outcome?.status).toBe('cancelled')
})

test('a pause of an ended process is refused, and its end is recorded', async () => {
  const program = await OsProgram.start()
  const reeve = await embedTemp()
  const { pid } = (await reeve.track({ osPid: program.osPid })).record
  await program.end()
  expect(await codeOf(reeve.signal({ pid, signal: 'pause' }))).toBe('already_ended')
  expect((await reeve.show({ pid })).outcome?.status).toBe('abandoned')
})

test('an interrupt says which external processes it reached', async () => {
  const program = await OsProgram.start('SIGINT')
  const reeve = await embedTemp()
  await reeve.openSession({ session: 's1' })
  const owner = { session: 's1' }
  const { pid } = (await reeve.track({ osPid: program.osPid, owner })).record
  const { record: plain } = await reeve.spawn({ kind: 'external', spec: { description: 'x' }, owner })
  expect(await reeve.interrupt({ scope: owner })).toEqual({
    ...{
      matched: 2,
      signalled: [pid],
      alreadyEnded: [],
      stale: [],
      unrecorded: [],
      failed: [],
      recorded: [plain.pid],
    },
  })
  await endedRecord(reeve, pid)
  expect((await reeve.signal({ pid: plain.pid, signal: 'kill' })).type).toBe('recorded')
})

test('a tracked process that lives as long as its session is asked to end with it', async () => {
  const program = await OsProgram.start('SIGTERM')
  const reeve = await embedTemp()
  await reeve.openSession({ session: 's1' })
  const { pid } = (await reeve.track({ osPid: program.osPid, owner: { session: 's1' }, lifetime: 'session' }))
    .record
  await reeve.endSession({ session: 's1' })
  await program.got('SIGTERM')
  expect((await endedRecord(reeve, pid)).outcome?.status).toBe('cancelled')
})

test('a tracked process cannot be started again, and is left alone', async () => {
  const program = await OsProgram.start('SIGTERM')
  const reeve = await embedTemp()
  const { pid } = (await reeve.track({ osPid: program.osPid })).record
  expect(await codeOf(reeve.restart({ pid }))).toBe('not_ours')
  expect(await reeve.show({ pid })).toMatchObject({ status: 'running', stopRequest: null })
  expect(program.signals).toEqual([])
})

test('of two kernels on one machine, one delivers a stop', async () => {
  const program = await OsProgram.start()
  const store = tempStore()
  const one = await embedTemp({ store })
  const two = await embedTemp({ store })
  const { pid } = (await one.track({ osPid: program.osPid })).record
  // One of them waits for the other, and not for ever.
  expect(['signalled', 'recorded']).toContain((await two.signal({ pid, signal: 'cancel' })).type)
  await deliveredTo(one, pid)
  expect(['signalled', 'recorded']).toContain((await one.signal({ pid, signal: 'kill', reason: 'now' })).type)
  await program.exited
  expect((await endedRecord(one, pid)).outcome).toMatchObject({ status: 'cancelled', reason: 'now' })
  const { events } = await one.events({ pid })
  expect(events.map(({ type }) => type)).toEqual([
    ...['registered', 'started', 'stop_requested', 'stop_delivered', 'stop_requested', 'stop_delivered'],
    'ended',
  ])
})

test('a thread of a process cannot be tracked: its signal would reach the whole process', async () => {
  const reeve = await embedTemp()
  const threads = readdirSync('/proc/self/task').map(Number)
  const thread = threads.find((id) => id !== process.pid)
  expect(thread).toBeDefined()
  expect(await codeOf(reeve.track({ osPid: thread ?? 0 }))).toBe('not_trackable')
  const program = await OsProgram.start()
  const other = readdirSync(`/proc/${program.osPid}/task`).map(Number)
  expect(await codeOf(reeve.track({ osPid: other.find((id) => id !== program.osPid) ?? 0 }))).toBe(
    'not_trackable',
  )
})

test('after a crash the next kernel delivers a recorded stop once', async () => {
  const program = await OsProgram.start()
  const store = tempStore()
  const first = await embedTemp({ store })
  const { pid } = (await first.track({ osPid: program.osPid })).record
  await first.close()
  await new Crashed(store).stop(pid, 'cancel')
  expect(program.signals).toEqual([])
  const second = await embedTemp({ store })
  await program.got('SIGTERM')
  await deliveredTo(second, pid)
  await second.close()
  const third = await embedTemp({ store })
  expect((await third.signal({ pid, signal: 'cancel' })).type).toBe('unchanged')
  // A signal of its own kind comes after all that were sent before it.
  program.child.kill('SIGUSR1')
  await program.got('SIGTERM', 'SIGUSR1')
})

test('after a crash the next kernel carries out a recorded pause', async () => {
  const program = await OsProgram.start()
  const store = tempStore()
  const first = await embedTemp({ store })
  const { pid } = (await first.track({ osPid: program.osPid })).record
  await first.close()
  await new Crashed(store).pause(pid)
  await embedTemp({ store })
  await expect.poll(() => program.state, { timeout: 45_000 }).toBe('T')
})

test('a kill that was delivered before a crash is forced after it', async () => {
  const program = await OsProgram.start()
  const store = tempStore()
  const first = await embedTemp({ store })
  const { pid } = (await first.track({ osPid: program.osPid })).record
  await first.close()
  await new Crashed(store).stop(pid, 'kill')
  const second = await embedTemp({ store })
  await deliveredTo(second, pid)
  await second.close()
  const third = await embedTemp({ store })
  expect((await endedRecord(third, pid)).outcome?.status).toBe('cancelled')
  expect(program.child.signalCode).toBe('SIGKILL')
})

test('an end without a kernel is on record when the next kernel has started', async () => {
  const program = await OsProgram.start()
  const store = tempStore()
  const first = await embedTemp({ store })
  const { pid } = (await first.track({ osPid: program.osPid })).record
  await first.close()
  await program.end()
  const second = await embedTemp({ store })
  expect((await second.show({ pid })).outcome).toMatchObject({
    ...{ status: 'abandoned', evidence: 'process_gone' },
  })
})

test('a tracked process has no holder, and an abandon ends its record at once', async () => {
  const program = await OsProgram.start()
  const reeve = await embedTemp()
  const { pid } = (await reeve.track({ osPid: program.osPid })).record
  const { holders } = await reeve.holders({})
  expect(holders.filter(({ id }) => id.startsWith('os:'))).toEqual([])
  expect((await reeve.recover({})).checked).not.toContain(pid)
  const { status, outcome } = await reeve.abandon({ pid, reason: 'not needed' })
  expect([status, outcome]).toMatchObject([
    'abandoned',
    { evidence: 'requested', reason: 'not needed', source: 'host' },
  ])
  expect(program.isRunning).toBe(true)
})
