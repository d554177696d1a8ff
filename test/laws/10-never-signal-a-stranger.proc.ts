import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Reeve } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { codeOf, ended, TempReeve } from '../command/commands.ts'
import { startDaemon } from '../command/daemon-program.ts'
import { endForCertain } from '../command/os-processes.ts'
import { startTimeOf, until } from '../keeper/client.ts'

/** An OS process that has nothing to do with Reeve, and notes every signal it could be told of. It leads its own group. */
async function stranger(): Promise<{ osPid: number; untouched: () => void }> {
  const script =
    'for (const name of ["SIGTERM","SIGINT","SIGHUP","SIGCONT","SIGUSR1"]) process.on(name, () => console.log(name)); console.log("here"); setInterval(() => {}, 1000)'
  const child: ChildProcess = spawn(process.execPath, ['-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  const gone = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await gone
  })
  let said = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  await until('the stranger is there', () => said.includes('here'))
  return {
    osPid: child.pid ?? 0,
    untouched() {
      expect([child.exitCode, child.signalCode, said]).toEqual([null, null, 'here\n'])
      expect(startTimeOf(child.pid ?? 0)).not.toBe('')
    },
  }
}

/** Changes fields of a state file of the keeper. */
function rewrite(temp: TempReeve, pid: string, ending: 'program' | 'intent', change: object): void {
  const path = join(temp.keeperHome.live, `${pid}.${ending}`)
  const before = JSON.parse(readFileSync(path, 'utf8')) as object
  writeFileSync(path, JSON.stringify({ ...before, ...change }))
}

/** A command whose daemon and keeper were both killed, so that the next ones know it from its files alone. */
async function leftOnRecord(temp: TempReeve, commands: object = {}): Promise<string> {
  const daemon = await startDaemon(temp, commands)
  const { record } = await daemon.call('spawn', {
    kind: 'command',
    spec: { argv: ['sleep', '1000'] },
    lifetime: 'detached',
  })
  // In this order: a daemon that is there starts another keeper at once.
  await daemon.kill()
  await temp.killKeeper()
  return record.pid
}

async function endPrograms(temp: TempReeve, pid: string): Promise<void> {
  for (const osPid of temp.programs(pid)) await endForCertain({ osPid, startTime: startTimeOf(osPid) })
}

/** Everything that could lead to a signal. */
async function tryToEnd(reeve: Reeve, pid: string): Promise<void> {
  await codeOf(reeve.signal({ pid, signal: 'SIGTERM' }))
  await codeOf(reeve.signal({ pid, signal: 'SIGTERM', to: 'group' }))
  await codeOf(reeve.signal({ pid, signal: 'pause' }))
  await codeOf(reeve.interrupt({ scope: { pid } }))
  await codeOf(reeve.kill({ pid, graceMs: 1 }))
  await codeOf(reeve.killAll({ graceMs: 1 }))
}

test.each(['auto', 'marker'] as const)(
  'with tree: %s, no request signals a stranger that has the recorded PID',
  async (tree) => {
    await using temp = new TempReeve()
    const pid = await leftOnRecord(temp, { tree })
    const { osPid, untouched } = await stranger()
    rewrite(temp, pid, 'program', { osPid, group: osPid })
    const reeve = await temp.embed({ tree })
    await tryToEnd(reeve, pid)
    const { outcome } = await ended(reeve, pid)
    expect([outcome?.status, outcome?.exitCode, outcome?.signal]).toEqual(['abandoned', null, null])
    expect(['keeper_lost', 'identity_mismatch']).toContain(outcome?.evidence)
    await tryToEnd(reeve, pid)
    untouched()
    expect(temp.programs()).toEqual([])
  },
)

test('a recorded PID without start time is not signalled', async () => {
  await using temp = new TempReeve()
  const pid = await leftOnRecord(temp)
  await endPrograms(temp, pid)
  const { osPid, untouched } = await stranger()
  rewrite(temp, pid, 'program', { osPid, group: osPid, startTime: null })
  const reeve = await temp.embed()
  await tryToEnd(reeve, pid)
  untouched()
  expect((await ended(reeve, pid)).outcome).toMatchObject({ status: 'abandoned', exitCode: null })
})

test('a command from before a reboot is abandoned, and no PID is signalled for it', async () => {
  await using temp = new TempReeve()
  const pid = await leftOnRecord(temp)
  await endPrograms(temp, pid)
  const { osPid, untouched } = await stranger()
  // The same PID with the same start time: on another boot that proves nothing.
  const boot = '00000000-0000-4000-8000-000000000000'
  rewrite(temp, pid, 'intent', { boot })
  rewrite(temp, pid, 'program', { osPid, group: osPid, startTime: startTimeOf(osPid), boot })
  const reeve = await temp.embed()
  await tryToEnd(reeve, pid)
  expect((await ended(reeve, pid)).outcome).toMatchObject({
    status: 'abandoned',
    evidence: 'holder_dead',
    exitCode: null,
    signal: null,
  })
  await tryToEnd(reeve, pid)
  untouched()
})

test('a program with the marker of another command is not ended with this one', async () => {
  await using temp = new TempReeve()
  await using other = new TempReeve()
  const reeve = await temp.embed()
  const elsewhere = await other.embed()
  const { record } = await elsewhere.spawn({ kind: 'command', spec: { argv: ['sleep', '1000'] } })
  const { record: own } = await reeve.spawn({ kind: 'command', spec: { argv: ['sleep', '1000'] } })
  await reeve.kill({ pid: own.pid })
  await reeve.killAll()
  expect((await elsewhere.show({ pid: record.pid })).status).toBe('running')
  expect(other.programs(record.pid)).toHaveLength(1)
})
