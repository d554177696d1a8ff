import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Pid } from '../../src/index.ts'
import { sleep, until } from '../clock.ts'
import { type Figure, figure, type Goal, valueAtMost } from '../figure.ts'
import { isAlive } from './proc.ts'
import { command, freshFolder, type Setup } from './setup.ts'
import { Daemon } from './start-daemon.ts'

const PRINTING = 20
const SILENT = 5
const EXIT_CODE = 7
const TICK_S = 0.1
/** How long the killed daemon stays away. */
const AWAY_MS = 500

interface Size {
  /** How many lines each command prints, one each 100 ms. */
  readonly ticks: number
  readonly beforeKillMs: number
}

interface Started {
  readonly pid: Pid
  /** The file for its PID. */
  readonly pidFile: string
}

/** `kill -9` of the daemon while commands print, then another daemon; and the same with the keeper killed, too. */
export async function* crash(setup: Setup, size: Size): AsyncGenerator<Figure> {
  const daemonAlone = await crashed(setup, size, 'daemon')
  const all: Goal = { of: 'value', atLeast: PRINTING, text: `all ${PRINTING}` }
  const none = valueAtMost(0, 'orphans')
  yield figure('daemon killed: commands that lived on', daemonAlone.survived, 'commands', undefined, all)
  yield figure('daemon killed: output before and after, whole', daemonAlone.whole, 'commands', undefined, all)
  yield figure('daemon killed: exit code known', daemonAlone.exitCodes, 'commands', undefined, all)
  yield figure('daemon killed: alive but unknown', daemonAlone.orphans, 'commands', undefined, none)

  const both = await crashed(setup, size, 'both')
  // No keeper was there to see how they ended.
  const madeUp = valueAtMost(0, 'made up')
  yield figure('daemon and keeper killed: commands that lived on', both.survived, 'commands', undefined, all)
  yield figure('daemon and keeper killed: output whole', both.whole, 'commands', undefined, all)
  yield figure('daemon and keeper killed: exit codes told', both.exitCodes, 'commands', undefined, madeUp)
  yield figure('daemon and keeper killed: alive but unknown', both.orphans, 'commands', undefined, none)
}

async function crashed(setup: Setup, { ticks, beforeKillMs }: Size, killed: 'daemon' | 'both') {
  const folder = freshFolder(setup, 'crash')
  const pids = join(folder, 'pids')
  mkdirSync(pids)
  const first = await Daemon.start(setup.built, folder)
  const started: Started[] = []
  for (let index = 0; index < PRINTING + SILENT; index++) {
    const pidFile = join(pids, String(index))
    const line = index < PRINTING ? printing(pidFile, ticks) : silent(pidFile)
    started.push({ pid: (await first.ask('spawn', command(line))).record.pid, pidFile })
  }
  const loud = started.slice(0, PRINTING)
  await until('all are up', () => started.every(isUp))
  await sleep(beforeKillMs)

  if (killed === 'both') process.kill(first.ready.keeperPid, 'SIGKILL')
  await first.kill()
  await sleep(AWAY_MS)
  const survived = loud.filter(isUp).length
  const second = await Daemon.start(setup.built, folder)
  try {
    const { processes } = await second.ask('list', { limit: 1_000, filter: { status: 'any' } })
    const known = processes
      .filter(({ record }) => record.status !== 'abandoned')
      .map(({ record }) => record.pid)
    const orphans = started.filter((one) => isUp(one) && !known.includes(one.pid)).length
    const ended = await Promise.all(loud.map(({ pid }) => second.ask('wait', { pid })))
    const exitCodes = ended.filter(
      (waited) => waited.type === 'ended' && waited.record.outcome?.exitCode === EXIT_CODE,
    ).length
    const pages = await Promise.all(loud.map(({ pid }) => second.ask('output', { pid, limit: 1024 * 1024 })))
    const expected = Array.from({ length: ticks }, (_, tick) => `tick ${tick}\n`).join('')
    const whole = pages.filter(({ bytes }) => Buffer.from(bytes).toString() === expected).length
    return { survived, whole, exitCodes, orphans }
  } finally {
    await second.close()
  }
}

function printing(pidFile: string, ticks: number): string {
  return `echo $$ > ${pidFile}; n=0; while [ $n -lt ${ticks} ]; do echo tick $n; n=$((n+1)); sleep ${TICK_S}; done; exit ${EXIT_CODE}`
}

function silent(pidFile: string): string {
  return `echo $$ > ${pidFile}; exec sleep 600`
}

function isUp({ pidFile }: Started): boolean {
  return existsSync(pidFile) && isAlive(Number(readFileSync(pidFile, 'utf8')))
}
