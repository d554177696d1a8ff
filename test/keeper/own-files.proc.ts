import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import type { KeeperIdentity, ProgramState } from '../../src/keeper/protocol/program-state.ts'
import { endForCertain } from '../command/os-processes.ts'
import { exitOf, TempKeeper, until } from './client.ts'

function identityIn(temp: TempKeeper): KeeperIdentity {
  return JSON.parse(readFileSync(temp.home.keeper.identity, 'utf8')) as KeeperIdentity
}

/** The connection that it was started over is replaced by another, which does not end it. */
function endWithTest(state: ProgramState): void {
  if (state.state !== 'running') throw new Error(JSON.stringify(state))
  const { osPid, startTime } = state.program
  onTestFinished(() => endForCertain({ osPid, startTime: startTime ?? '' }))
}

/** Its folder has another path from now on, and there is an empty one under the old path. */
function moveAway(temp: TempKeeper): void {
  const away = `${temp.folder}.old`
  onTestFinished(() => rmSync(away, { recursive: true, force: true }))
  renameSync(temp.folder, away)
  mkdirSync(temp.folder, { mode: 0o700 })
}

test('a keeper whose folder was moved away removes no file of the keeper that has its path now', async () => {
  await using temp = new TempKeeper()
  const former = await temp.startKeeper()
  const itsDaemon = await temp.daemon()
  await itsDaemon.sh('p_former', 'exec sleep 1000')
  moveAway(temp)

  await temp.startKeeper()
  const daemon = await temp.daemon()
  endWithTest(await daemon.sh('p_new', 'exec sleep 1000'))
  const identity = identityIn(temp)
  const fifos = readdirSync(temp.home.fifos).sort()
  await itsDaemon.ask('end', { pid: 'p_former', signal: 'SIGKILL', graceMs: 1 })
  await itsDaemon.ended('p_former')
  await itsDaemon.ask('acknowledge', { pid: 'p_former' })
  await itsDaemon.ask('leave', {})
  expect(await exitOf(former)).toBe(0)

  expect(existsSync(temp.home.keeper.socket)).toBe(true)
  expect(identityIn(temp)).toEqual(identity)
  expect(readdirSync(temp.home.fifos).sort()).toEqual(fifos)
  const next = await temp.daemon()
  expect(await next.ask('state', { pid: 'p_new' })).toMatchObject({ state: 'running' })
})

test('a keeper removes its own socket and identity when it goes', async () => {
  await using temp = new TempKeeper()
  const keeper = await temp.startKeeper()
  const daemon = await temp.daemon()
  await daemon.ask('leave', {})
  expect(await exitOf(keeper)).toBe(0)
  expect(readdirSync(temp.home.keeper.folder).filter((name) => /socket|keeper\.json/.test(name))).toEqual([])
})

test('a keeper makes its socket and its identity again when they are lost', async () => {
  await using temp = new TempKeeper()
  await temp.startKeeper()
  const daemon = await temp.daemon()
  endWithTest(await daemon.sh('p_1', 'exec sleep 1000'))
  const identity = identityIn(temp)
  rmSync(temp.home.keeper.socket)
  rmSync(temp.home.keeper.identity)

  await until('both files are there', () =>
    [temp.home.keeper.socket, temp.home.keeper.identity].every((path) => existsSync(path)),
  )
  expect(identityIn(temp)).toEqual(identity)
  // The connection of before is still good, and so is a new one.
  expect(await daemon.ask('state', { pid: 'p_1' })).toMatchObject({ state: 'running' })
  const next = await temp.daemon()
  expect(await next.ask('state', { pid: 'p_1' })).toMatchObject({ state: 'running' })
})

test('a keeper names the programs that have ended and left others running, and no others', async () => {
  await using temp = new TempKeeper()
  await temp.startKeeper()
  const daemon = await temp.daemon()
  await daemon.sh('p_running', 'exec sleep 1000')
  await daemon.sh('p_ended', 'true')
  await daemon.sh('p_holding', 'setsid sleep 1000 & exit 0')
  await daemon.sh('p_silent', 'setsid sleep 1000 >/dev/null 2>&1 </dev/null & exit 0')
  for (const pid of ['p_ended', 'p_holding', 'p_silent']) await daemon.ended(pid)
  // Also when they are acknowledged, and so forgotten.
  await daemon.ask('acknowledge', { pid: 'p_silent' })
  const { pids } = await daemon.ask('leftovers', {})
  expect([...pids].sort()).toEqual(['p_holding', 'p_silent'])
})
