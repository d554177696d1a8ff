import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { type DataFolderPaths, dataFolderAt } from '../../src/keeper/protocol/data-folder-paths.ts'
import { lineReader } from '../../src/keeper/protocol/lines.ts'
import {
  type AskName,
  type Asks,
  type KeeperRefusal,
  PROTOCOL,
  type Tell,
} from '../../src/keeper/protocol/messages.ts'
import type { ProgramState } from '../../src/keeper/protocol/program-state.ts'
import type { SpawnPlan } from '../../src/keeper/protocol/spawn-plan.ts'
import { groupsBelow, removeCgroup, removeIfEmpty } from '../../src/keeper/tree/cgroup-files.ts'
import { ownCgroups } from '../../src/os/own-cgroups.ts'
import { segmentOffset } from '../../src/output-log/log-format.ts'
import { builtFile } from '../built-file.ts'
import { quickFolder } from '../quick-folder.ts'

/** A data folder with real keepers, one after the other, and daemons that speak the protocol and do nothing else. */
export class TempKeeper implements AsyncDisposable {
  readonly folder: string
  readonly home: DataFolderPaths
  readonly #isOwn: boolean
  readonly #daemons: Daemon[] = []
  readonly #keepers: ChildProcess[] = []

  constructor(protocol = PROTOCOL, name = '', folder?: string) {
    this.#isOwn = folder === undefined
    this.folder = folder ?? mkdtempSync(join(quickFolder, `reeve-keeper-${name}`))
    this.home = dataFolderAt(this.folder, protocol)
  }

  /** A keeper of another protocol in the same folder. The owner of the folder removes it. */
  sameFolder(protocol: number): TempKeeper {
    return new TempKeeper(protocol, '', this.folder)
  }

  get keeper(): ChildProcess {
    return this.#keepers.at(-1)!
  }

  /** Starts a keeper, and comes back when it can be spoken to. */
  async startKeeper(entry = builtFile('dist/keeper/main.js')): Promise<ChildProcess> {
    const before = this.#keepers.length === 0 ? null : idIn(this.home.keeper.identity)
    const keeper = this.runKeeper(entry)
    await until('the keeper listens', () => {
      const id = idIn(this.home.keeper.identity)
      return id !== null && id !== before
    })
    return keeper
  }

  /** Starts a keeper without waiting for anything. */
  runKeeper(entry = builtFile('dist/keeper/main.js')): ChildProcess {
    const log = openSync(join(this.folder, 'keeper.log'), 'a')
    const keeper = spawn(process.execPath, [entry, this.folder], {
      stdio: ['ignore', log, log],
      detached: true,
    })
    closeSync(log)
    this.#keepers.push(keeper)
    return keeper
  }

  /** Kills the keeper with SIGKILL, so that it cannot clean up. */
  async killKeeper(): Promise<void> {
    const gone = exitOf(this.keeper)
    this.keeper.kill('SIGKILL')
    await gone
  }

  /** Connects and says hello, for this test's own OS process if no other is given. */
  async daemon(as?: { osPid: number; startTime: string }): Promise<Daemon> {
    const daemon = await this.connect()
    await daemon.hello(readFileSync(this.home.keeper.token, 'utf8').trim(), as)
    return daemon
  }

  async connect(): Promise<Daemon> {
    const folder = openSync(this.home.keeper.folder, 'r')
    // A path through a descriptor, since that of the folder itself may be too long for a socket.
    const socket = connect(`/proc/self/fd/${folder}/socket`)
    socket.once('close', () => closeSync(folder))
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    const daemon = new Daemon(socket)
    this.#daemons.push(daemon)
    return daemon
  }

  /** The output log as a reader sees it: the bytes that are there, and where gaps are. */
  output(pid: string): { text: string; gaps: [from: number, to: number][]; bytesOnDisk: number } {
    const folder = join(this.home.output, pid)
    const offsets = readdirSync(folder)
      .map(segmentOffset)
      .filter((offset) => offset !== undefined)
    let end = 0
    let text = ''
    let bytesOnDisk = 0
    const gaps: [number, number][] = []
    for (const offset of offsets.sort((a, b) => a - b)) {
      const content = readFileSync(join(folder, String(offset).padStart(15, '0')))
      if (offset > end) gaps.push([end, offset])
      text += content.toString('latin1')
      bytesOnDisk += content.length
      end = offset + content.length
    }
    return { text, gaps, bytesOnDisk }
  }

  keeperLog(): string {
    return readFileSync(join(this.folder, 'keeper.log'), 'utf8')
  }

  /** Ends everything that was started here, but leaves the files. */
  async stop(): Promise<void> {
    for (const daemon of this.#daemons) await daemon.endAll().catch(() => {})
    for (const keeper of this.#keepers) {
      if (keeper.exitCode !== null || keeper.signalCode !== null) continue
      const gone = exitOf(keeper)
      keeper.kill('SIGKILL')
      await gone
    }
    for (const daemon of this.#daemons) daemon.close()
    removeCgroups(idIn(this.home.identity))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    if (this.#isOwn) rmSync(this.folder, { recursive: true, force: true })
  }
}

/** A running keeper in a folder of its own, and a daemon that is connected to it. */
export async function keeperWithDaemon(): Promise<{ temp: TempKeeper; daemon: Daemon }> {
  const temp = new TempKeeper()
  await temp.startKeeper()
  return { temp, daemon: await temp.daemon() }
}

/** A daemon's side of the keeper protocol. */
export class Daemon {
  readonly tells: Tell[] = []
  readonly closed: Promise<void>
  readonly #socket: Socket
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>()
  readonly #pids = new Set<string>()
  #lastId = 0
  #isClosed = false

  constructor(socket: Socket) {
    this.#socket = socket
    const read = lineReader((message) => this.#heard(message as Record<string, unknown>))
    socket.on('data', read)
    socket.on('error', () => {})
    this.closed = new Promise((resolve) =>
      socket.once('close', () => {
        this.#isClosed = true
        for (const { reject } of this.#waiting.values()) reject(new Error('the connection was closed'))
        resolve()
      }),
    )
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  hello(token: string, as = { osPid: process.pid, startTime: startTimeOf(process.pid) }) {
    return this.ask('hello', { protocol: PROTOCOL, token, daemon: as })
  }

  async ask<Name extends AskName>(name: Name, about: Asks[Name][0]): Promise<Asks[Name][1]> {
    if (this.#isClosed) throw new Error('the connection was closed')
    if (name === 'spawn' && 'pid' in about) this.#pids.add(about.pid)
    const id = ++this.#lastId
    const waiting = Promise.withResolvers<unknown>()
    this.#waiting.set(id, waiting)
    this.#socket.write(`${JSON.stringify({ id, ask: name, ...about })}\n`)
    return (await waiting.promise) as Asks[Name][1]
  }

  /** Sends raw bytes, for invalid messages. */
  send(text: string): void {
    this.#socket.write(text)
  }

  async spawn(pid: string, plan: Partial<SpawnPlan> & Pick<SpawnPlan, 'argv'>): Promise<ProgramState> {
    return this.ask('spawn', { pid, fence: 1, plan: { ...defaults, ...plan } })
  }

  /** A script for sh. */
  sh(pid: string, script: string, plan: Partial<SpawnPlan> = {}): Promise<ProgramState> {
    return this.spawn(pid, { argv: ['/bin/sh', '-c', script], ...plan })
  }

  /** How it ended, as told. */
  async ended(pid: string): Promise<Extract<Tell, { tell: 'ended' }>['state']> {
    return until(`${pid} ends`, () => {
      for (const tell of this.tells) if (tell.tell === 'ended' && tell.state.pid === pid) return tell.state
      return null
    })
  }

  async exit(pid: string) {
    const state = await this.ended(pid)
    if (state.state !== 'exited') throw new Error(`${pid} is ${JSON.stringify(state)}`)
    return state.exit
  }

  write(pid: string, text: string, seq: number | null = null) {
    return this.ask('write', { pid, seq, data: Buffer.from(text).toString('base64') })
  }

  async endAll(): Promise<void> {
    if (this.#isClosed) return
    for (const pid of this.#pids)
      await this.ask('end', { pid, signal: 'SIGKILL', graceMs: 1 }).catch(() => {})
  }

  close(): void {
    this.#socket.destroy()
  }

  #heard(message: Record<string, unknown>): void {
    if ('tell' in message) {
      this.tells.push(message as Tell)
      return
    }
    const waiting = this.#waiting.get(message['id'] as number)
    this.#waiting.delete(message['id'] as number)
    if ('error' in message) waiting?.reject(new RefusedAsk(message['error'] as KeeperRefusal))
    else waiting?.resolve(message['answer'])
  }
}

export class RefusedAsk extends Error {
  readonly refusal: KeeperRefusal

  constructor(refusal: KeeperRefusal) {
    super(`${refusal.code}: ${refusal.message}`)
    this.refusal = refusal
  }
}

export const defaults: Omit<SpawnPlan, 'argv'> = {
  cwd: '/',
  env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
  pty: null,
  stdin: 'null',
  output: 'merged',
  caps: { headBytes: 256 * 1024, tailBytes: 8 * 1024 * 1024, segmentBytes: 1024 * 1024, minFreeBytes: 0 },
  timeoutMs: null,
  idleTimeoutMs: null,
  limits: { memoryBytes: null, cpuSeconds: null, openFiles: null, outputBytes: null },
  endSignal: 'SIGTERM',
  graceMs: 2000,
  tree: 'auto',
}

/** Looks until there is something to see. The deadline only serves to fail with words instead of a timeout. */
export async function until<Seen>(
  what: string,
  look: () => Seen | Promise<Seen>,
): Promise<NonNullable<Seen>> {
  const deadline = Date.now() + 90_000
  for (;;) {
    const seen = await look()
    if (seen !== null && seen !== undefined && seen !== false) return seen
    if (Date.now() > deadline) throw new Error(`waited in vain until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

export function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode)
  return new Promise((resolve) => child.once('exit', (code) => resolve(code)))
}

/** Empty for one that is gone. A zombie counts as gone once its last thread has ended: until then it holds its locks. */
export function startTimeOf(osPid: number): string {
  try {
    const stat = readFileSync(`/proc/${osPid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' && Number(fields[17]) <= 1 ? '' : (fields[19] ?? '')
  } catch {
    return ''
  }
}

/** Of keepers that could not do so themselves. */
export function removeCgroups(homeId: string | null): void {
  const { unified, memoryV1 } = ownCgroups()
  for (const group of [unified, memoryV1]) {
    if (group === null || homeId === null) continue
    const base = join(group, `reeve-${homeId}`)
    for (const leaf of groupsBelow(base)) removeCgroup(leaf)
    removeIfEmpty(base)
  }
}

function idIn(path: string): string | null {
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) as { id: string }).id
  } catch {
    return null
  }
}
