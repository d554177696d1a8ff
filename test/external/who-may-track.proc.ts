import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type InputOf, ReeveError } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { TempReeve } from '../command/commands.ts'
import { embedTemp } from '../embed-temp.ts'
import { testIf } from '../reporting/test-if.ts'
import { OsProgram } from './os-program.ts'
import { codeOf } from './reeve.ts'

test('only the host may track a PID, not a session or a process', async () => {
  const program = await OsProgram.start()
  const reeve = await embedTemp()
  await reeve.openSession({ session: 's1' })
  const { record } = await reeve.spawn({
    ...{ kind: 'external', spec: { description: 'x' }, owner: { session: 's1' } },
  })
  const { osPid } = program
  for (const actor of ['session:s1', `process:${record.pid}`] as const) {
    expect(await codeOf(reeve.as(actor).track({ osPid, owner: { session: 's1' } }))).toBe('denied')
    expect(await codeOf(reeve.as(actor).track({ osPid, parent: record.pid }))).toBe('denied')
  }
  // A missing PID is refused with the same answer, which tells nothing about other OS processes.
  expect(await codeOf(reeve.as('session:s1').track({ osPid: 4_194_304 }))).toBe('denied')
  expect((await reeve.list({ filter: { status: 'any' } })).processes).toHaveLength(1)
})

test('spawn takes no PID, from the host or a session', async () => {
  const program = await OsProgram.start()
  const reeve = await embedTemp()
  await reeve.openSession({ session: 's1' })
  const { record } = await reeve.track({ osPid: program.osPid })
  const request = {
    kind: 'external',
    spec: { description: 'x', process: record.spec['process'] },
    owner: { session: 's1' },
  } as unknown as InputOf<'spawn'>
  for (const acting of [reeve, reeve.as('session:s1')]) {
    expect(await codeOf(acting.spawn(request))).toBe('invalid_input')
    expect(await codeOf(acting.spawnMany({ processes: [request] } as InputOf<'spawnMany'>))).toBe(
      'invalid_input',
    )
  }
  expect((await reeve.list({ filter: { status: 'any' } })).processes).toHaveLength(1)
})

test('Reeve itself, its keeper and their ancestors cannot be tracked', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const refused = async (osPid: number) => {
    const error = await reeve.track({ osPid }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    return error instanceof ReeveError ? [error.code, error.details['why']] : error
  }
  expect(await refused(process.pid)).toEqual(['not_trackable', 'own'])
  expect(await refused(process.ppid)).toEqual(['not_trackable', 'own'])
  expect(await refused(temp.keeper().osPid)).toEqual(['not_trackable', 'own'])
  for (const osPid of [1, 0, -1, 1.5]) expect(await codeOf(reeve.track({ osPid }))).toBe('invalid_input')
  expect((await reeve.list({ filter: { status: 'any' } })).processes).toEqual([])
})

test('a PID that no process has cannot be tracked', async () => {
  const program = await OsProgram.start()
  await program.end()
  const reeve = await embedTemp()
  expect(await codeOf(reeve.track({ osPid: program.osPid }))).toBe('not_trackable')
  expect((await reeve.list({ filter: { status: 'any' } })).processes).toEqual([])
})

testIf(process.getuid?.() === 0, 'needs root, to start a program as another user')(
  'a process of another user cannot be tracked, and is not signalled once it has become one',
  async () => {
    const other = spawn('sleep', ['300'], { uid: 65_534, stdio: 'ignore' })
    const exit = once(other, 'exit')
    onTestFinished(async () => {
      other.kill('SIGKILL')
      await exit
    })
    await once(other, 'spawn')
    const reeve = await embedTemp()
    expect(await codeOf(reeve.track({ osPid: other.pid ?? 0 }))).toBe('not_trackable')
    const script = `process.stdin.once('data', () => { process.setuid(65534); console.log('changed') }); console.log('here')`
    const changing = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] })
    const changed = once(changing, 'exit')
    onTestFinished(async () => {
      changing.kill('SIGKILL')
      await changed
    })
    await once(changing.stdout, 'data')
    const { pid } = (await reeve.track({ osPid: changing.pid ?? 0 })).record
    changing.stdin.write('go\n')
    await once(changing.stdout, 'data')
    expect(await codeOf(reeve.signal({ pid, signal: 'pause' }))).toBe('not_ours')
    expect(await reeve.show({ pid })).toMatchObject({ status: 'running', revision: 2 })
    for (const signal of ['interrupt', 'cancel', 'kill'] as const)
      expect((await reeve.signal({ pid, signal })).type).toBe('recorded')
    expect(await codeOf(reeve.kill({ pid, graceMs: 1 }))).toBe('not_ours')
    expect((await reeve.interrupt({ scope: { pid } })).failed).toMatchObject([{ pid, code: 'not_ours' }])
    expect(changing.exitCode ?? changing.signalCode).toBeNull()
  },
)
