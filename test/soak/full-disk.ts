import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { connect, type InputOf, type ProcessRecord, type Reeve, ReeveError } from 'reeve'
import { detach } from '../../src/daemon/detach.ts'
import type { RunningDaemon } from '../../src/home/announced-daemon.ts'
import { homePaths } from '../../src/home/paths.ts'
import { dataFolderAt } from '../../src/keeper/protocol/data-folder-paths.ts'
import { PROTOCOL } from '../../src/keeper/protocol/messages.ts'
import type { KeeperIdentity } from '../../src/keeper/protocol/program-state.ts'
import { endForCertain, isAlive, markedWith } from '../command/os-processes.ts'
import { textOf } from '../command/read-output.ts'
import { removeCgroups, startTimeOf, until } from '../keeper/client.ts'
import { Random } from '../simulation/random.ts'
import { SmallDisk } from '../small-disk.ts'
import { withCleanUp } from './with-clean-up.ts'

const MiB = 1024 * 1024
const DISK_BYTES = 64 * MiB
const ROOM_MS = { least: 500, most: 4_000 }
const FULL_MS = { least: 500, most: 4_000 }
const RETRY_MS = 100
/** How long a call may keep failing after there is space again. */
const LATEST_MS = 60_000
const SORTS = ['pipe', 'tagged', 'terminal'] as const
/** Refusals while the disk is full or the daemon is replaced. Each request may be repeated. */
const PASSING = new Set([
  'store_full',
  'store_busy',
  'store_unavailable',
  'outcome_unknown',
  'keeper_unavailable',
  'daemon_unreachable',
  'daemon_not_started',
  'closed',
])

const SLEEPING = {
  kind: 'command',
  lifetime: 'detached',
  idempotencyKey: 'sleeping',
  spec: { argv: ['sleep', '1000000'] },
} as const satisfies InputOf<'spawn'>

export interface FullDiskOptions {
  readonly minutes: number
  readonly seed: number
  readonly commands: number
  readonly say: (line: string) => void
}

export interface FullDiskReport {
  readonly ended: number
  readonly killed: number
  readonly unrecordedKills: number
  readonly fillings: number
  readonly daemonsKilled: number
  readonly startsOnFullDisk: number
  readonly refusals: number
  readonly troublesSeen: number
  readonly problems: readonly string[]
}

/** A command and its effects outside of Reeve: it writes a line to its own file when it begins, and one before it ends. */
interface Piece {
  readonly key: string
  readonly lines: number
  readonly code: number
  readonly request: InputOf<'spawn'>
  readonly effects: string
}

/**
 * Runs commands in a home on a small disk, with store and logs. The disk is filled and freed repeatedly, and daemons are
 * killed, also while it is full. Each record is compared with the effects of its command.
 */
export async function fullDiskSoak(options: FullDiskOptions): Promise<FullDiskReport> {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-full-disk-'))
  const run = new Run(options, folder)
  return withCleanUp(
    () => run.whole(),
    () => run.remove(),
  )
}

class Run {
  readonly #options: FullDiskOptions
  readonly #folder: string
  readonly #effects: string
  readonly #disk: SmallDisk
  readonly #home: ReturnType<typeof homePaths>
  readonly #random: Random
  readonly #problems: string[] = []
  readonly #ended = new Set<string>()
  readonly #counts = {
    made: 0,
    killed: 0,
    unrecordedKills: 0,
    fillings: 0,
    daemonsKilled: 0,
    startsOnFullDisk: 0,
    refusals: 0,
    troublesSeen: 0,
  }
  #daemon: RunningDaemon | undefined
  #starting: Promise<RunningDaemon> | undefined
  #reeve: Reeve | undefined
  #keeper: KeeperIdentity | undefined
  #isOver = false
  #isRemoved = false

  constructor(options: FullDiskOptions, folder: string) {
    this.#options = options
    this.#folder = folder
    this.#effects = join(folder, 'effects')
    mkdirSync(this.#effects)
    mkdirSync(join(folder, 'disk'))
    this.#disk = new SmallDisk(join(folder, 'disk'), DISK_BYTES)
    this.#home = homePaths(join(this.#disk.folder, 'home'))
    this.#random = new Random(options.seed)
  }

  async whole(): Promise<FullDiskReport> {
    const { minutes, commands, say } = this.#options
    await this.#startDaemon()
    this.#keeper = this.#keeperNow()
    // A keeper without programs may exit while there is no daemon. This command keeps it alive.
    const { record: kept } = await this.#patiently((reeve) => reeve.spawn(SLEEPING))
    this.#counts.made += 1
    const begun = Date.now()
    const telling = setInterval(() => say(this.#progress(Date.now() - begun)), 5_000)
    try {
      const filling = this.#fillAndFree(begun + minutes * 60_000)
      const working = Array.from({ length: commands }, () => this.#work())
      // The first failure ends the others, too.
      await Promise.all([filling, ...working]).finally(() => {
        this.#isOver = true
      })
    } finally {
      clearInterval(telling)
      this.#disk.makeRoom()
    }
    this.#lookAtKeeper()
    await this.#patiently((reeve) => reeve.kill({ pid: kept.pid }))
    await this.#lookAtAll()
    const { made: _, ...counts } = this.#counts
    return { ended: this.#ended.size, ...counts, problems: this.#problems }
  }

  async remove(): Promise<void> {
    this.#isOver = true
    this.#isRemoved = true
    // A daemon that is starting cannot be stopped before it is ready.
    const daemon = await this.#starting?.catch(() => this.#daemon)
    await this.#reeve?.close()
    if (daemon !== undefined) await endForCertain(identityOf(daemon))
    const id = homeIdIn(dataFolderAt(this.#home.commands, PROTOCOL).identity)
    if (id !== undefined) {
      for (const osPid of markedWith(`@${id}`)) await endForCertain({ osPid, startTime: startTimeOf(osPid) })
      const keeper = this.#keeperNow()
      if (keeper !== undefined) await endForCertain(keeper)
      removeCgroups(id)
    }
    this.#disk.unmount()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #fillAndFree(deadline: number): Promise<void> {
    const random = this.#random.fork()
    while (Date.now() < deadline && !this.#isOver) {
      await pause(random.between(ROOM_MS.least, ROOM_MS.most))
      // With the reserve, a daemon must be able to start once on the full disk.
      await until('the reserve is there', () => existsSync(join(this.#home.commands, 'reserve')))
      this.#disk.fill()
      this.#counts.fillings += 1
      await pause(random.between(FULL_MS.least, FULL_MS.most))
      if (random.chance(0.6)) {
        await this.#killDaemon()
        await this.#startDaemon()
        this.#counts.startsOnFullDisk += 1
        await pause(random.between(0, FULL_MS.least))
      }
      await this.#noteTroubles()
      this.#disk.makeRoom()
      if (random.chance(0.3)) {
        await this.#killDaemon()
        await this.#startDaemon()
      }
    }
    this.#isOver = true
  }

  async #killDaemon(): Promise<void> {
    if (this.#daemon === undefined) return
    if (!isAlive(identityOf(this.#daemon))) this.#problems.push('a daemon ended by itself')
    await endForCertain(identityOf(this.#daemon))
    this.#counts.daemonsKilled += 1
  }

  async #startDaemon(): Promise<void> {
    const env = {
      ...process.env,
      REEVE_ENVIRONMENT: 'inherit',
      REEVE_SHELL: '/bin/sh',
      REEVE_LISTEN: 'off',
      REEVE_MIN_FREE_BYTES: String(2 * MiB),
      REEVE_OUTPUT_TOTAL_BYTES: String(16 * MiB),
    }
    if (this.#isRemoved) throw new Error('The soak is over')
    this.#starting = detach({ home: this.#home.folder, env, timeoutMs: LATEST_MS })
    this.#daemon = await this.#starting
    const former = this.#reeve
    this.#reeve = await connect({ home: this.#home.folder })
    await former?.close()
  }

  /** A write that fails makes the daemon say so; one that is held back by the disk does, too. */
  async #noteTroubles(): Promise<void> {
    const { troubles } = await this.#patiently((reeve) => reeve.status())
    if (troubles.length > 0) this.#counts.troublesSeen += 1
  }

  async #work(): Promise<void> {
    const random = this.#random.fork()
    while (!this.#isOver) await this.#piece(this.#newPiece(random), random)
  }

  #newPiece(random: Random): Piece {
    const key = `w${this.#counts.made++}`
    const [lines, code] = [random.between(20, 1_500), random.between(1, 99)]
    const effects = join(this.#effects, key)
    const sort = random.pick(SORTS)
    const every = random.between(20, 200)
    const run = `echo begun >> ${effects}; i=0; while [ $i -lt ${lines} ]; do i=$((i+1)); \
echo "${key} $i ${'.'.repeat(40)}"; [ $((i%${every})) -eq 0 ] && sleep 0.1; done; echo done >> ${effects}; exit ${code}`
    const spec = {
      run,
      ...(sort === 'tagged' ? { output: sort } : {}),
      ...(sort === 'terminal' ? { pty: true } : {}),
    }
    const request = { kind: 'command', spec, lifetime: 'detached', idempotencyKey: key } as const
    return { key, lines, code, request, effects }
  }

  async #piece(piece: Piece, random: Random): Promise<void> {
    const { pid } = (await this.#patiently((reeve) => reeve.spawn(piece.request))).record
    const isKilled = random.chance(0.25)
    if (isKilled) {
      await pause(random.between(0, 1_500))
      await this.#kill(pid)
    }
    const record = await this.#endOf(pid)
    const text = await this.#printed(pid, record)
    const wrong = wrongIn(piece, record, text, { isKilled })
    this.#problems.push(...wrong.map((what) => `${piece.key} (${pid}): ${what}`))
    this.#ended.add(pid)
  }

  /** The end of a command waits 5 s for the disk to accept its last output. Output that is held back longer comes later. */
  async #printed(pid: string, { outcome }: ProcessRecord): Promise<string> {
    const { outputBytes = 0 } = Object(outcome?.result) as { readonly outputBytes?: number }
    for (const until = Date.now() + LATEST_MS; ; ) {
      const text = await this.#patiently((reeve) => textOf(reeve, pid)).catch((error: unknown) => {
        if (error instanceof ReeveError && error.code === 'no_output') return ''
        throw error
      })
      if (Buffer.byteLength(text) >= outputBytes || Date.now() > until) return text
      await pause(RETRY_MS)
    }
  }

  async #kill(pid: string): Promise<void> {
    const { type: answer, record } = await this.#patiently((reeve) => reeve.kill({ pid, graceMs: 500 }))
    this.#counts.killed += 1
    if (answer !== 'unrecorded') return
    this.#counts.unrecordedKills += 1
    const { osPid, startTime } = record.program ?? {}
    if (osPid !== undefined && startTime != null && isAlive({ osPid, startTime }))
      this.#problems.push(`${pid} was killed, and PID ${osPid} lives on`)
  }

  async #endOf(pid: string): Promise<ProcessRecord> {
    for (;;) {
      const waited = await this.#patiently((reeve) => reeve.wait({ pid, timeoutMs: 5_000 }))
      if (waited.type === 'ended') return waited.record
    }
  }

  /** Repeats a request while the disk is full or the daemon is replaced. */
  async #patiently<Answer>(ask: (reeve: Reeve) => Promise<Answer>): Promise<Answer> {
    for (const until = Date.now() + LATEST_MS; ; ) {
      try {
        if (this.#reeve === undefined) throw new Error('No daemon was started')
        return await ask(this.#reeve)
      } catch (error) {
        const isPassing = error instanceof ReeveError && PASSING.has(error.code)
        if (!isPassing || Date.now() > until) throw error
        this.#counts.refusals += 1
      }
      await pause(RETRY_MS)
    }
  }

  /** Checks that the first keeper is still alive. */
  #lookAtKeeper(): void {
    const keeper = this.#keeperNow()
    if (keeper?.id !== this.#keeper?.id || keeper === undefined || !isAlive(keeper))
      this.#problems.push('the keeper ended by itself')
  }

  /** Checks that each process ended once, and that nothing runs. */
  async #lookAtAll(): Promise<void> {
    const ends = new Map<string, number>()
    for (let after = 0; ; ) {
      const at = after
      const { events, position } = await this.#patiently((reeve) =>
        reeve.changes({ after: at, limit: 1_000 }),
      )
      if (events.length === 0) break
      for (const { pid, type } of events) if (type === 'ended') ends.set(pid, (ends.get(pid) ?? 0) + 1)
      after = position
    }
    for (const pid of this.#ended)
      if (ends.get(pid) !== 1) this.#problems.push(`${pid} has ended ${ends.get(pid) ?? 0} times`)
    if (ends.size !== this.#counts.made)
      this.#problems.push(`${this.#counts.made} commands were made, and ${ends.size} have ended`)
    await until('no trouble is left', async () => {
      const { live, troubles } = await this.#patiently((reeve) => reeve.status())
      return live === 0 && troubles.length === 0
    })
  }

  #keeperNow(): KeeperIdentity | undefined {
    try {
      const { identity } = dataFolderAt(this.#home.commands, PROTOCOL).keeper
      return JSON.parse(readFileSync(identity, 'utf8')) as KeeperIdentity
    } catch {
      // It has exited, or none was started.
      return undefined
    }
  }

  #progress(ms: number): string {
    const { fillings, daemonsKilled, refusals, killed } = this.#counts
    return `${Math.round(ms / 1000)} s: ${this.#ended.size} commands have ended, ${killed} of them killed; ${fillings} fillings, ${daemonsKilled} daemons killed, ${refusals} refusals`
  }
}

function identityOf({ osPid, startTime }: RunningDaemon): { osPid: number; startTime: string } {
  return { osPid, startTime: startTime ?? '' }
}

function homeIdIn(path: string): string | undefined {
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as { id: string }).id : undefined
}

/** Problems with the outcome, the output or the effects of a command. */
function wrongIn(
  { key, lines, code, effects }: Piece,
  { outcome }: ProcessRecord,
  text: string,
  { isKilled }: { readonly isKilled: boolean },
): string[] {
  if (outcome === null) return ['it has not ended']
  const did = existsSync(effects) ? readFileSync(effects, 'utf8').trimEnd().split('\n') : []
  const { status, exitCode, reason } = outcome
  if (reason === 'failed_start')
    return did.length === 0 ? [] : ['it did something, though it was never begun']
  // A shell prints `Terminated` when its child was killed.
  const printed = text.split(/\r?\n/).filter((line) => !isKilled || line !== 'Terminated')
  const rest = printed.pop() ?? ''
  const wrongLine = printed.findIndex((line, at) => !line.startsWith(`${key} ${at + 1} .`))
  const wrong = wrongLine === -1 ? [] : [`line ${wrongLine + 1} is ${JSON.stringify(printed[wrongLine])}`]
  if (status === 'cancelled' && isKilled)
    return did.length > 2 ? [...wrong, `it did ${did.join(', ')}`] : wrong
  if (status !== 'failed' || exitCode !== code) wrong.push(`it ended as ${status} ${exitCode} ${reason}`)
  if (did.join() !== 'begun,done') wrong.push(`it did ${did.join()}`)
  if (printed.length !== lines || rest !== '') wrong.push(`it printed ${printed.length} of ${lines} lines`)
  return wrong
}
