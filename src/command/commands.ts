import { resolve } from 'node:path'
import type { Environment } from '../core/environment/environment.ts'
import { RefusedError } from '../core/errors.ts'
import type { Pid } from '../core/process/pid.ts'
import { hasEnded, type ProcessRecord } from '../core/process/record.ts'
import { type Home, homeAt } from '../keeper/protocol/home.ts'
import type { Lock } from '../keeper/protocol/lock.ts'
import { type HeldBack, PROTOCOL, type ProgramState, type SpawnPlan } from '../keeper/protocol/messages.ts'
import { makeReserve } from '../keeper/protocol/reserve.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { Redaction } from '../redaction/redaction.ts'
import type { CommandSpec } from '../verbs/shapes/command-spec.ts'
import type { Inherited } from '../verbs/shapes/inherited.ts'
import { attend } from './attend/attend.ts'
import { CommandOutput } from './command-output.ts'
import { CommandSecrets, type NamedSecrets } from './command-secrets.ts'
import { takeHome } from './daemon-lock.ts'
import { needsLinux, preparedHome, wrongStore } from './data-folder.ts'
import { BaseEnvironment } from './environment/base.ts'
import { InheritedEnvironments } from './environment/inherited.ts'
import { userShell } from './environment/login.ts'
import { PassedSecrets } from './environment/passed.ts'
import { keepPrinted } from './environment/printed-secrets.ts'
import { withoutSecrets } from './environment/sanitise.ts'
import { notOurs, orForgotten, throwIfSurvived, whileUp } from './keeper-answer.ts'
import { KeeperSide, type KeeperSideOptions } from './keeper-side.ts'
import { leftoversOf } from './leftovers.ts'
import { Cursors } from './output/cursors.ts'
import { dropOutput, pidsWithOutput, pruneOutput } from './output/housekeeping.ts'
import { endSignalOf, planOf, type Settings } from './plan.ts'
import { type Daemon, reachKeeper, reachOlder } from './reach-keeper.ts'
import { RecentStarts } from './recent-starts.ts'

export interface CommandsOptions {
  /** The data folder: output logs, pipes, and the keeper's socket. Shared with nobody. */
  readonly home: string
  /** How many commands may run at once; one more is refused. */
  readonly most?: number
  /** How long a command may take to end before it is forced. */
  readonly graceMs?: number
  /** `login`: what an interactive login shell has. `inherit`: what this program has. Secrets are left out of both. */
  readonly environment?: 'login' | 'inherit'
  /** What runs a `run` line; the user's own by default. */
  readonly shell?: string
  /** `marker`: no cgroups, even where they could be made. */
  readonly tree?: 'auto' | 'marker'
  readonly output?: {
    /** How much is kept of each log: its first bytes, and its last. */
    readonly headBytes?: number
    readonly tailBytes?: number
    /** How much all logs together may have; the oldest finished ones go first. */
    readonly totalBytes?: number
    /** With less than this free on disk, commands that print are held back. */
    readonly minFreeBytes?: number
  }
}

const MiB = 1024 * 1024
const DEFAULTS = { most: 500, graceMs: 2_000, headBytes: 256 * 1024, tailBytes: 8 * MiB } as const
const TOTAL_BYTES = 4 * 1024 * MiB
const MIN_FREE_BYTES = 128 * MiB
const SEGMENT_BYTES = MiB
/** How often the disk reserve is made again after it was given up. */
const RESERVE_LOOK_MS = 5_000

/** Everything a kernel needs to run commands, and its verbs to look at them. */
export class Commands {
  readonly home: Home
  readonly output: CommandOutput
  readonly secrets: CommandSecrets
  readonly passed: PassedSecrets
  readonly inherited: InheritedEnvironments
  /** What all output logs took when they were last measured. */
  outputBytes: number | null = null
  readonly #settings: Settings
  readonly #totalBytes: number
  readonly #onTrouble: (error: unknown, doing: string) => void
  readonly #recent = new RecentStarts()
  readonly #lock: Lock
  readonly #keepers: readonly KeeperSide[]
  readonly #environment: BaseEnvironment
  #kernel: Kernel | undefined
  #tidying: NodeJS.Timeout | undefined
  #reserving: NodeJS.Timeout | undefined
  #looking: Promise<void> = Promise.resolve()

  private constructor(parts: {
    readonly home: Home
    readonly lock: Lock
    readonly keepers: readonly KeeperSide[]
    readonly environment: BaseEnvironment
    readonly passed: PassedSecrets
    readonly inherited: InheritedEnvironments
    readonly named: NamedSecrets
    readonly settings: Settings
    readonly totalBytes: number
    readonly redaction: Redaction
    readonly onTrouble: (error: unknown, doing: string) => void
  }) {
    this.home = parts.home
    this.passed = parts.passed
    this.inherited = parts.inherited
    this.secrets = new CommandSecrets(parts.redaction, {
      variables: () => parts.environment.variables(),
      passed: parts.passed,
      inherited: parts.inherited,
      named: parts.named,
    })
    this.output = new CommandOutput({
      home: parts.home,
      keeperOf: ({ pid }) => this.keeperOf(pid),
      secrets: this.secrets,
      kernel: () => this.#served(),
    })
    this.#lock = parts.lock
    this.#keepers = parts.keepers
    this.#environment = parts.environment
    this.#settings = parts.settings
    this.#totalBytes = parts.totalBytes
    this.#onTrouble = parts.onTrouble
  }

  /** Reaches the folder's keeper, or starts one. Refused while another daemon has the folder. */
  static async open(
    options: CommandsOptions,
    daemon: Daemon,
    { redaction, named }: { readonly redaction: Redaction; readonly named: NamedSecrets },
    onTrouble: (error: unknown, doing: string) => void,
  ): Promise<Commands> {
    if (process.platform !== 'linux') throw needsLinux()
    const home = homeAt(resolve(options.home), PROTOCOL)
    const { id, restoredFrom } = preparedHome(home)
    const lock = takeHome(home, daemon)
    try {
      return await Commands.#open(
        options,
        { home, id, restoredFrom, lock, redaction, named },
        daemon,
        onTrouble,
      )
    } catch (error) {
      lock.release()
      throw error
    }
  }

  static async #open(
    options: CommandsOptions,
    {
      home,
      id,
      restoredFrom,
      lock,
      redaction,
      named,
    }: {
      readonly home: Home
      readonly id: string
      readonly restoredFrom: readonly string[]
      readonly lock: Lock
      readonly redaction: Redaction
      readonly named: NamedSecrets
    },
    daemon: Daemon,
    onTrouble: (error: unknown, doing: string) => void,
  ): Promise<Commands> {
    const shell = options.shell ?? userShell()
    const settings: Settings = {
      shell,
      graceMs: options.graceMs ?? DEFAULTS.graceMs,
      tree: options.tree ?? 'auto',
      caps: {
        headBytes: options.output?.headBytes ?? DEFAULTS.headBytes,
        tailBytes: options.output?.tailBytes ?? DEFAULTS.tailBytes,
        segmentBytes: Math.min(SEGMENT_BYTES, options.output?.tailBytes ?? DEFAULTS.tailBytes),
        minFreeBytes: options.output?.minFreeBytes ?? MIN_FREE_BYTES,
      },
    }
    const opened = Promise.withResolvers<Commands>()
    const environment = new BaseEnvironment(shell, options.environment ?? 'login', onTrouble)
    const passed = new PassedSecrets(home.passed)
    const inherited = new InheritedEnvironments(home.inherited, {
      onTrouble,
      onEnd: (record, env) => keepPrinted(record, env, { passed, output: home.output }),
    })
    const shared: Omit<KeeperSideOptions, 'serves' | 'reach'> = {
      homeId: id,
      restoredFrom,
      fifos: home.fifos,
      most: options.most ?? DEFAULTS.most,
      plan: (record, kernel) => planFor(record, kernel, { environment, passed, inherited, named, settings }),
      ends: (record, { how, graceMs }) => ({
        signal: how === 'interrupt' ? 'SIGINT' : endSignalOf(record),
        graceMs: graceMs ?? (record.spec as unknown as CommandSpec).graceMs ?? settings.graceMs,
      }),
      attend: (work, kernel, keeper) =>
        attend(work, kernel, {
          ...{ output: home.output, cursors: new Cursors(home.cursors), onTrouble },
          surroundings: async () => {
            const { cwd, env } = await shared.plan(work.record, kernel)
            return { shell, cwd, env }
          },
          follow: (grew) => keeper.follow(work.record.pid, grew),
          masking: async () => (await opened.promise).output.maskingOf(work.record),
        }),
      onTrouble,
    }
    const current = await KeeperSide.open({
      ...shared,
      serves: [{ kind: 'command', targets: null }],
      reach: (listening) => reachKeeper(home, daemon, listening),
    })
    try {
      const gone = async (former: KeeperSide) => current?.takeOverFrom(former)
      const older = await reachOlder(home, daemon, { ...shared, gone })
      const keepers = current === undefined ? older : [current, ...older]
      const totalBytes = options.output?.totalBytes ?? TOTAL_BYTES
      const commands = new Commands({
        ...{ home, lock, keepers, settings, totalBytes, redaction, onTrouble },
        ...{ environment, passed, inherited, named },
      })
      opened.resolve(commands)
      return commands
    } catch (error) {
      await current?.close()
      throw error
    }
  }

  get executors(): readonly KeeperSide[] {
    return this.#keepers
  }

  /** The one that new commands go to. */
  get keeper(): KeeperSide {
    const [current] = this.#keepers
    if (current === undefined) throw new Error('No keeper was reached')
    return current
  }

  serve(kernel: Kernel): void {
    this.#kernel = kernel
    this.inherited.serve(kernel)
    for (const keeper of this.#keepers) keeper.serve(kernel)
  }

  #served(): Kernel {
    if (this.#kernel === undefined) throw new Error('No kernel is served yet')
    return this.#kernel
  }

  /** A folder belongs to one store: with another, nobody would know whose its commands are. */
  async refuseWrongStore(kernel: Kernel): Promise<void> {
    const foreign: ProgramState[] = []
    for (const keeper of this.#keepers) foreign.push(...(await keeper.foreign(kernel)))
    if (foreign.length > 0) throw wrongStore(this.home, foreign)
  }

  async clearStrays(kernel: Kernel): Promise<void> {
    for (const keeper of this.#keepers) await keeper.clearStrays(kernel)
  }

  /** Whose program it is; one that has ended is nobody's, and then the current keeper knows as much as any. */
  keeperOf(pid: Pid): KeeperSide {
    return this.#keepers.find((keeper) => keeper.runs(pid)) ?? this.keeper
  }

  /** Since when and how much of its output is held back, because the disk does not take it. */
  heldBack(pid: Pid): HeldBack | undefined {
    return this.keeperOf(pid).held.of(pid)
  }

  /** What is held back or not recorded now, over all commands. */
  get backlog(): { readonly held: readonly HeldBack[]; readonly unrecordedEnds: number } {
    return {
      held: this.#keepers.flatMap(({ held }) => held.all()),
      unrecordedEnds: this.#keepers.reduce((sum, keeper) => sum + keeper.unrecordedEnds, 0),
    }
  }

  graceOf(record: ProcessRecord): number {
    return (record.spec as unknown as CommandSpec).graceMs ?? this.#settings.graceMs
  }

  /** Names in `passEnv` that stand for nothing: it runs without them. */
  async missingEnv(record: ProcessRecord, kernel: Kernel): Promise<string[]> {
    const { passEnv = [] } = record.spec as unknown as CommandSpec
    if (passEnv.length === 0) return []
    const sources = [
      await this.#environment.variables(),
      await this.passed.of(record),
      (await this.inherited.of(record))?.env ?? {},
      (await environmentOf(record.envRef, kernel))?.variables ?? {},
    ]
    return passEnv.filter((name) => sources.every((variables) => variables[name] === undefined))
  }

  /** The same command of the same owner, started moments ago; and remembers this one. */
  duplicateOf(record: ProcessRecord): Pid | undefined {
    return this.#recent.duplicateOf(record)
  }

  /** Whether the end that was asked for is over, now or in time. What it could not end is an error that names it. */
  async isEndOver(record: ProcessRecord, withinMs: number): Promise<boolean> {
    const { pid } = record
    const ending = this.keeperOf(pid).endAnswer(pid).catch(orForgotten)
    const answer = await within(withinMs, whileUp(record, ending))
    if (answer === 'late') return false
    if (answer?.how === 'not_ours') throw new RefusedError(notOurs(pid))
    throwIfSurvived(pid, answer)
    return true
  }

  /** What a command that has ended left running is ended too, when somebody kills it once more. Whether that is over in time. */
  async endLeftBehind(record: ProcessRecord, graceMs: number, withinMs: number): Promise<boolean> {
    const { pid, program } = record
    if (program === null || !this.keeper.hasProgramOf(record)) return true
    const { osPid, startTime, boot, group } = program
    const asked = { pid, signal: endSignalOf(record), graceMs, program: { osPid, startTime, boot, group } }
    const answer = await within(withinMs, whileUp(record, this.keeper.ask('end', asked)))
    if (answer === 'late') return false
    throwIfSurvived(pid, answer)
    return true
  }

  /** The processes that have ended and left programs running, as far as their keepers know. */
  leftovers(): Promise<Pid[]> {
    return leftoversOf(this.#keepers)
  }

  /** The processes are gone from the store: their output goes too. */
  async drop(pids: readonly Pid[]): Promise<void> {
    for (const pid of pids) await dropOutput(this.home.output, pid)
    await this.#forget(pids)
  }

  /** Keeps all logs together below their cap: those that ended longest ago go first. */
  async prune(kernel: Kernel): Promise<void> {
    const { dropped, totalBytes } = await pruneOutput(this.home.output, {
      totalBytes: this.#totalBytes,
      finished: (pids) => endedLongestAgo(kernel, pids),
    })
    this.outputBytes = totalBytes
    await this.#forget(dropped)
  }

  async #forget(pids: readonly Pid[]): Promise<void> {
    for (const pid of pids) await this.output.forget(pid)
    if (pids.length > 0) await this.passed.forget(pids)
  }

  /** Removes logs whose process is pruned: a daemon was killed between that and the removal of its log. */
  async #dropUnknown(kernel: Kernel): Promise<void> {
    const all = await pidsWithOutput(this.home.output)
    for (let next = 0; next < all.length; next += PIDS_AT_ONCE) {
      const pids = all.slice(next, next + PIDS_AT_ONCE)
      const found = await kernel.edges.store.ask({ ask: 'prunable', pids })
      const known = new Set(found.map(({ pid }) => pid))
      await this.drop(pids.filter((pid) => !known.has(pid)))
    }
  }

  /** Looks after the logs now and from time to time, and after the disk reserve, until `close`. */
  tidy(kernel: Kernel, everyMs: number): void {
    this.#keepReserve()
    this.#reserving = setInterval(() => this.#keepReserve(), RESERVE_LOOK_MS)
    this.#reserving.unref()
    const look = (act: () => Promise<void>) => {
      this.#looking = act().catch((error: unknown) => this.#onTrouble(error, 'pruning output logs'))
    }
    look(async () => {
      await this.#dropUnknown(kernel)
      await this.prune(kernel)
    })
    this.#tidying = setInterval(() => look(() => this.prune(kernel)), everyMs)
    this.#tidying.unref()
  }

  /** Reads the login shell's environment again. */
  refreshEnvironment(): Promise<void> {
    return this.#environment.refresh()
  }

  #keepReserve(): void {
    try {
      makeReserve(this.home.reserve)
    } catch (error) {
      this.#onTrouble(error, 'reserving disk space')
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#tidying)
    clearInterval(this.#reserving)
    await this.#looking
    await this.inherited.settled()
    try {
      for (const keeper of this.#keepers) await keeper.close()
    } finally {
      this.#lock.release()
    }
  }
}

const PIDS_AT_ONCE = 500

async function within<Answer>(ms: number, asked: Promise<Answer>): Promise<Answer | 'late'> {
  const late = Promise.withResolvers<'late'>()
  const timer = setTimeout(late.resolve, ms, 'late')
  try {
    return await Promise.race([asked, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

interface PlanSources {
  readonly environment: BaseEnvironment
  readonly passed: PassedSecrets
  readonly inherited: InheritedEnvironments
  readonly named: NamedSecrets
  readonly settings: Settings
}

async function planFor(record: ProcessRecord, kernel: Kernel, from: PlanSources): Promise<SpawnPlan> {
  const environment = await environmentOf(record.envRef, kernel)
  const { passEnv: named = [], inheritEnv } = record.spec as unknown as CommandSpec
  const inherited = await from.inherited.ofStarting(record, kernel)
  // What the client passes counts, even if the daemon has another value; a restart may give another whole environment.
  const values = named.length === 0 ? {} : await from.passed.ofStarting(record, kernel)
  const base = inheritEnv === 'whole' ? {} : await from.environment.variables()
  const ofCaller =
    inheritEnv === 'whole' ? { ...values, ...inherited?.env } : { ...inherited?.env, ...values }
  const variables = { ...withoutSecrets({ ...base, ...values }, named), ...ofCaller }
  const given = { variables: from.named.variablesOf(environment), options: environment?.options ?? {} }
  return { ...planOf(record, variables, given, from.settings), ...withoutEnv(inherited) }
}

function withoutEnv(inherited: Inherited | null): Omit<Inherited, 'env'> {
  const { env: _, ...limits } = inherited ?? { env: {} }
  return limits
}

async function environmentOf(ref: string | null, kernel: Kernel): Promise<Environment | null> {
  return ref === null ? null : kernel.edges.store.ask({ ask: 'environment', ref })
}

async function endedLongestAgo(kernel: Kernel, pids: readonly Pid[]): Promise<Pid[]> {
  const ended: { pid: Pid; at: number }[] = []
  for (const pid of pids) {
    const row = await kernel.edges.store.ask({ ask: 'process', pid })
    // Without a record nobody can ask for it any more.
    if (row === null) ended.push({ pid, at: 0 })
    else if (hasEnded(row.record)) ended.push({ pid, at: row.record.outcome?.endedAt ?? 0 })
  }
  return ended.sort((a, b) => a.at - b.at).map(({ pid }) => pid)
}
