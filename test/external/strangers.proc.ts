import type { Reeve } from 'reeve'
import { expect, test } from 'vitest'
import type { TrackedProcess } from '../../src/core/process/tracked.ts'
import { hasMachineId } from '../../src/os/host.ts'
import { embedTemp } from '../embed-temp.ts'
import { testIf } from '../reporting/test-if.ts'
import { tempStore } from '../temp-folder.ts'
import { OsProgram } from './os-program.ts'
import { Crashed, codeOf, endedRecord } from './reeve.ts'

const OTHER_BOOT = '00000000-0000-4000-8000-000000000000'

/** The identity of a running program, as `track` recorded it in a store of its own. */
async function identityOf(program: OsProgram): Promise<TrackedProcess> {
  const reeve = await embedTemp()
  const { record } = await reeve.track({ osPid: program.osPid })
  await reeve.close()
  return record.spec['process'] as unknown as TrackedProcess
}

/** Everything that could lead to a signal. */
async function tryToReach(reeve: Reeve, pid: string): Promise<string[]> {
  const answers: string[] = []
  for (const signal of ['pause', 'interrupt', 'cancel', 'kill'] as const)
    answers.push(
      await reeve.signal({ pid, signal }).then(
        ({ type: answer }) => answer,
        ({ code }) => code as string,
      ),
    )
  await codeOf(reeve.kill({ pid, graceMs: 1 }))
  await codeOf(reeve.killAll({ graceMs: 1 }))
  return answers
}

test('a stranger with the same PID but another start time is never signalled', async () => {
  const stranger = await OsProgram.start()
  const identity = await identityOf(stranger)
  const store = tempStore()
  const crashed = new Crashed(store)
  const pid = await crashed.track({ ...identity, startTime: String(Number(identity.startTime) - 1) })
  await crashed.stop(pid, 'kill')
  const reeve = await embedTemp({ store })
  const { outcome } = await endedRecord(reeve, pid)
  expect(outcome).toMatchObject({ status: 'abandoned', evidence: 'process_gone', exitCode: null })
  await tryToReach(reeve, pid)
  expect([stranger.isRunning, stranger.signals, stranger.state === 'T']).toEqual([true, [], false])
})

testIf(hasMachineId(), 'needs a machine id')(
  'a process of an earlier boot has ended, and the one that has its PID now is never signalled',
  async () => {
    const stranger = await OsProgram.start()
    const identity = await identityOf(stranger)
    const store = tempStore()
    const crashed = new Crashed(store)
    const pid = await crashed.track({ ...identity, boot: OTHER_BOOT, pidNamespace: 'pid:[1]' })
    await crashed.stop(pid, 'kill')
    const reeve = await embedTemp({ store })
    expect((await reeve.show({ pid })).outcome).toMatchObject({
      ...{ status: 'abandoned', evidence: 'process_gone' },
    })
    await tryToReach(reeve, pid)
    expect([stranger.isRunning, stranger.signals, stranger.state === 'T']).toEqual([true, [], false])
  },
)

testIf(hasMachineId(), 'needs a machine id')(
  'a process of another boot on which a holder lives is left alone until that holder is gone',
  async () => {
    const stranger = await OsProgram.start()
    const identity = await identityOf(stranger)
    const store = tempStore()
    const crashed = new Crashed(store)
    const pid = await crashed.track({ ...identity, boot: OTHER_BOOT })
    const keeper = await crashed.announceKeeperOn(OTHER_BOOT)
    const reeve = await embedTemp({ store })
    expect((await reeve.signal({ pid, signal: 'cancel' })).type).toBe('recorded')
    expect(await reeve.show({ pid })).toMatchObject({ status: 'stopping', outcome: null })
    await crashed.removeHolder(keeper)
    expect((await endedRecord(reeve, pid)).outcome).toMatchObject({ evidence: 'process_gone' })
    expect([stranger.isRunning, stranger.signals]).toEqual([true, []])
  },
)

test.each([
  ['on another machine', { host: 'ffffffffffffffffffffffff' }],
  ['on another machine, with another boot', { host: 'ffffffffffffffffffffffff', boot: 'another' }],
  ['in another PID namespace', { pidNamespace: 'pid:[1]' }],
] as const)(
  'a process %s is left alone: no signal, no end',
  async (_where, change) => {
    const stranger = await OsProgram.start()
    const identity = await identityOf(stranger)
    const store = tempStore()
    const crashed = new Crashed(store)
    const pid = await crashed.track({ ...identity, ...change })
    const reeve = await embedTemp({ store })
    expect(await tryToReach(reeve, pid)).toEqual(['not_served', 'recorded', 'recorded', 'recorded'])
    expect(await reeve.show({ pid })).toMatchObject({ status: 'stopping', outcome: null })
    expect((await reeve.show({ pid })).stopRequest?.deliveredAt).toBeUndefined()
    expect([stranger.isRunning, stranger.signals, stranger.state === 'T']).toEqual([true, [], false])
  },
  120_000,
)
