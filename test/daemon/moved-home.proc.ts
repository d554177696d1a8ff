import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/client/connect.ts'
import type { ProcessRecord } from '../../src/index.ts'
import { dataFolderAt } from '../../src/keeper/protocol/data-folder-paths.ts'
import { PROTOCOL } from '../../src/keeper/protocol/messages.ts'
import type { KeeperIdentity } from '../../src/keeper/protocol/program-state.ts'
import { CommandLine } from '../cli/command-line.ts'
import { endForCertain, isAlive, markedWith } from '../command/os-processes.ts'
import { startTimeOf, until } from '../keeper/client.ts'
import { TempReeve } from '../temp-reeve.ts'

function moveAway({ home }: TempReeve): void {
  const away = `${home.folder}.old`
  onTestFinished(() => rmSync(away, { recursive: true, force: true }))
  renameSync(home.folder, away)
}

function keeperOf({ home }: TempReeve): KeeperIdentity {
  const { keeper } = dataFolderAt(home.commands, PROTOCOL)
  return JSON.parse(readFileSync(keeper.identity, 'utf8')) as KeeperIdentity
}

/** The OS processes with the marker of a process. They are ended with the test. */
function programsOf(pid: string, { home }: TempReeve): { osPid: number; startTime: string }[] {
  const { id } = JSON.parse(readFileSync(dataFolderAt(home.commands, PROTOCOL).identity, 'utf8')) as {
    id: string
  }
  const found = markedWith(`${pid}@${id}`).map((osPid) => ({ osPid, startTime: startTimeOf(osPid) }))
  onTestFinished(async () => {
    for (const one of found) await endForCertain(one)
  })
  return found
}

/** It runs until the test is over. */
async function sleeping({ home }: TempReeve): Promise<ProcessRecord> {
  const reeve = await connect({ socket: home.socket })
  const spec = { argv: ['sleep', '1000'] as [string, ...string[]] }
  const { record } = await reeve.spawn({ kind: 'command', spec, lifetime: 'detached' })
  await reeve.close()
  return record
}

async function shown({ home }: TempReeve, pid: string): Promise<ProcessRecord> {
  const reeve = await connect({ socket: home.socket })
  try {
    return await reeve.show({ pid })
  } finally {
    await reeve.close()
  }
}

const LEAVES = 'setsid sleep 1000 & exit 0'

test('after kill --all and down no OS process and no file of commands or their descendants is left', async () => {
  const line = new CommandLine()
  const { temp } = line
  const started = await line.run(['run', '--lifetime', 'detached', '-d', '--', 'sh', '-c', LEAVES])
  const pid = started.stdout.trim()
  await line.run(['wait', pid])
  const left = programsOf(pid, temp)
  expect(left).toHaveLength(1)
  const keeper = keeperOf(temp)

  const report = await line.json('kill', '--all')
  expect(report).toMatchObject({ matched: 1, signalled: [pid], failed: [] })
  expect(left.filter(isAlive)).toEqual([])
  expect(await line.json('kill', '--all')).toMatchObject({ matched: 0, signalled: [] })
  expect((await line.run(['down'])).code).toBe(0)
  await until('the keeper is gone', () => !isAlive(keeper))
})

test('a home that was moved away, with programs left behind in it, takes nothing from the new one', async () => {
  const temp = new TempReeve()
  const first = await temp.start()
  const reeve = await connect({ socket: temp.home.socket })
  const { record } = await reeve.spawn({ kind: 'command', spec: { run: LEAVES }, lifetime: 'detached' })
  await reeve.wait({ pid: record.pid, timeoutMs: 30_000 })
  await reeve.close()
  const left = programsOf(record.pid, temp)
  expect(left).toHaveLength(1)
  const formerKeeper = keeperOf(temp)
  first.signal('SIGTERM')
  await first.ended()
  expect(isAlive(formerKeeper)).toBe(true)
  moveAway(temp)

  const second = await temp.start()
  const { pid } = await sleeping(temp)
  for (const one of left) await endForCertain(one)
  await until('the former keeper is gone', () => !isAlive(formerKeeper))
  expect(existsSync(dataFolderAt(temp.home.commands, PROTOCOL).keeper.socket)).toBe(true)
  await second.kill()
  await temp.start()
  expect(await shown(temp, pid)).toMatchObject({ status: 'running' })
})

test('a daemon whose home was moved away takes nothing from the daemon that has its path now', async () => {
  const temp = new TempReeve()
  const first = await temp.up()
  const formerKeeper = keeperOf(temp)
  moveAway(temp)
  const second = await temp.start()
  await first.close()
  await until('the former keeper is gone', () => !isAlive(formerKeeper))
  expect(temp.announced()).toMatchObject({ osPid: second.osPid })
  expect(temp.announced()?.stopping).toBeUndefined()
  const reeve = await connect({ socket: temp.home.socket })
  expect((await reeve.status()).keeper).toMatchObject({ available: true, osPid: keeperOf(temp).osPid })
  await reeve.close()
})

test('a daemon starts although the socket of its keeper is missing, and takes over the commands', async () => {
  const temp = new TempReeve()
  const first = await temp.start()
  const { pid } = await sleeping(temp)
  await first.kill()
  rmSync(dataFolderAt(temp.home.commands, PROTOCOL).keeper.socket)
  await temp.start()
  expect(await shown(temp, pid)).toMatchObject({ status: 'running' })
})
