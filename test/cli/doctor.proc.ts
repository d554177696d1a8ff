import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { dataFolderAt } from '../../src/keeper/protocol/data-folder-paths.ts'
import { PROTOCOL } from '../../src/keeper/protocol/messages.ts'
import type { KeeperIdentity } from '../../src/keeper/protocol/program-state.ts'
import { isAlive, signalOne } from '../command/os-processes.ts'
import { until } from '../keeper/client.ts'
import { NEEDS_USER_NAMESPACE, testIf } from '../reporting/test-if.ts'
import { CommandLine } from './command-line.ts'

interface Check {
  readonly name: string
  readonly state: string
  readonly found: string
  readonly fix?: string
}

/** A home in which a command was run, and whose daemon and keeper have ended. */
async function usedHome(): Promise<CommandLine> {
  const line = new CommandLine()
  await line.run(['run', '--', 'true'])
  await line.run(['down'])
  return line
}

async function check(line: CommandLine, name: string): Promise<Check | undefined> {
  return (await line.json<Check[]>('doctor')).find((one) => one.name === name)
}

test('the doctor reports a store with a newer schema', async () => {
  const line = await usedHome()
  const store = new DatabaseSync(line.temp.home.store)
  store.exec('pragma user_version = 99')
  store.close()
  const found = await check(line, 'store')
  expect(found).toMatchObject({ state: 'bad', found: expect.stringContaining('schema version 99') })
  expect(found?.fix).toContain('at least as new')
  expect((await line.run(['doctor'])).code).not.toBe(0)
})

test('the doctor reports that the store of a used home is missing or empty', async () => {
  const line = await usedHome()
  const { store } = line.temp.home
  expect(await check(line, 'store')).toMatchObject({ state: 'good' })
  for (const end of ['-wal', '-shm']) rmSync(`${store}${end}`, { force: true })
  truncateSync(store)
  expect(await check(line, 'store')).toMatchObject({
    state: 'bad',
    found: expect.stringContaining('no tables'),
  })
  rmSync(store)
  const found = await check(line, 'store')
  expect(found).toMatchObject({ state: 'bad', found: expect.stringContaining('is not there') })
  expect(found?.fix).toContain('Put a copy of it back')
})

test('doctor and status name a record that cannot be read, and the daemon goes on', async () => {
  const line = await usedHome()
  const store = new DatabaseSync(line.temp.home.store)
  const pid = String(store.prepare('select pid from process').get()?.['pid'])
  store.exec(`update process set moving = '{broken'`)
  store.close()
  expect(await check(line, 'store')).toMatchObject({ state: 'bad', found: expect.stringContaining(pid) })
  expect((await line.run(['run', '--', 'true'])).code).toBe(0)
  expect((await line.run(['ps', '--all'])).code).toBe(0)
  expect(await line.json('status')).toMatchObject({ unreadable: [pid] })
  expect((await line.run(['status'])).stdout).toContain(pid)
  expect(await check(line, 'records')).toMatchObject({ state: 'bad', found: expect.stringContaining(pid) })
})

const canMount = (() => {
  try {
    execFileSync('unshare', ['-rm', 'true'])
    return true
  } catch {
    return false
  }
})()

testIf(canMount, NEEDS_USER_NAMESPACE)(
  'the doctor says that the home is on a read-only file system',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'reeve-home-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const script = 'mount -t tmpfs -o ro none "$1" && exec "$2" "$3" doctor --json'
    const args = ['-rm', 'sh', '-c', script, 'sh', folder, process.execPath, resolve('bin/reeve.mjs')]
    const child = spawn('unshare', args, { env: { ...process.env, REEVE_HOME: folder } })
    let said = ''
    child.stdout.on('data', (data: Buffer) => {
      said += data.toString()
    })
    await new Promise((done) => child.once('close', done))
    const found = (JSON.parse(said) as Check[]).find(({ name }) => name === 'home')
    expect(found).toMatchObject({ state: 'bad', found: expect.stringContaining('read-only') })
    expect(found?.fix).toContain('remount')
  },
)

test('the doctor reports a keeper without a daemon, and a keeper that cannot be reached', async () => {
  const line = new CommandLine()
  const { home } = line.temp
  await line.run(['run', '--lifetime', 'detached', '-d', '--', 'sleep', '1000'])
  await line.run(['down'])
  const { keeper } = dataFolderAt(home.commands, PROTOCOL)
  const identity = JSON.parse(readFileSync(keeper.identity, 'utf8')) as KeeperIdentity
  expect(await check(line, 'keeper')).toMatchObject({
    state: 'good',
    found: expect.stringContaining(`PID ${identity.osPid}`),
  })
  // While it is stopped it cannot make its socket again.
  expect(isAlive(identity)).toBe(true)
  signalOne(identity, 'SIGSTOP')
  try {
    expect(await check(line, 'keeper')).toMatchObject({
      state: 'bad',
      found: expect.stringContaining('does not answer'),
      fix: expect.stringContaining(`kill -CONT ${identity.osPid}`),
    })
    rmSync(keeper.socket)
    expect(await check(line, 'keeper')).toMatchObject({
      state: 'bad',
      found: expect.stringContaining('is missing'),
      fix: expect.stringContaining('creates a lost socket again'),
    })
    expect((await line.run(['doctor'])).code).not.toBe(0)
  } finally {
    signalOne(identity, 'SIGCONT')
  }
  await until('the socket is there again', () => existsSync(keeper.socket))
  expect(await check(line, 'keeper')).toMatchObject({ state: 'good' })
})
