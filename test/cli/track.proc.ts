import type { ProcessRecord } from 'reeve'
import { expect, test } from 'vitest'
import { OsProgram } from '../external/os-program.ts'
import { CommandLine } from './command-line.ts'

test('a program is tracked by its PID under a name, listed, and ended', async () => {
  const reeve = new CommandLine()
  const program = await OsProgram.start('SIGTERM')
  const tracked = await reeve.run(['track', String(program.osPid), '--name', 'db', '--label', 'the database'])
  expect({ code: tracked.code, stderr: tracked.stderr }).toEqual({ code: 0, stderr: '' })
  expect(tracked.stdout).toMatch(/^p_[0-9a-z]{12}\n$/)
  expect((await reeve.run(['ps'])).stdout).toMatch(/db +running +\S+ +external the database/)
  expect((await reeve.run(['kill', '-g', '60s', 'db'])).stdout).toMatch(/^db +cancelled/)
  await program.got('SIGTERM')
  expect(await reeve.json<ProcessRecord>('show', 'db')).toMatchObject({
    outcome: { status: 'cancelled', evidence: 'process_gone', exitCode: null },
  })
})

test('a program is tracked as the child of a process, and of a session', async () => {
  const reeve = new CommandLine()
  const program = await OsProgram.start('SIGTERM')
  await reeve.json('session', 'open', 's1')
  const parent = (await reeve.run(['run', '-d', '--name', 'web', '--session', 's1', '--', 'sleep', '300']))
    .stdout
  const record = await reeve.json<ProcessRecord>(
    'track',
    String(program.osPid),
    '--parent',
    'web',
    '--lifetime',
    'parent',
  )
  expect(record).toMatchObject({ parent: parent.trim(), lifetime: 'parent', owner: { session: 's1' } })
  await reeve.run(['kill', 'web'])
  await program.got('SIGTERM')
  expect((await reeve.run(['wait', record.pid])).code).not.toBe(0)
})

test('a PID that may not be tracked, or is none, is refused with the reason', async () => {
  const reeve = new CommandLine()
  const program = await OsProgram.start()
  await program.end()
  const gone = await reeve.run(['track', String(program.osPid)])
  expect(gone).toMatchObject({ code: 1, stdout: '' })
  expect(gone.stderr).toContain(`There is no living process with the PID ${program.osPid}`)
  const { daemon } = await reeve.json<{ daemon: { osPid: number } }>('status')
  const own = await reeve.run(['track', String(daemon.osPid)])
  expect(own.stderr).toContain('Reeve itself')
  for (const given of [[], ['web'], ['-1'], ['12', '13']])
    expect((await reeve.run(['track', ...given])).code).toBe(2)
  expect((await reeve.run(['track', '1'])).code).toBe(2)
  expect((await reeve.run(['ps', '-aq'])).stdout).toBe('')
})
