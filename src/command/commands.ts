import { createHash } from 'node:crypto'
import { withTimeout } from '../base/with-timeout.ts'
import { RefusedError } from '../core/errors.ts'
import { canonical } from '../core/json/canonical.ts'
import type { Json } from '../core/json/json.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { DataFolderPaths } from '../keeper/protocol/data-folder-paths.ts'
import type { Lock } from '../keeper/protocol/lock.ts'
import type { HeldBack, ProgramState } from '../keeper/protocol/program-state.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { Redaction } from '../redaction/redaction.ts'
import { commandSpecOf } from './command-spec.ts'
import { wrongStore } from './data-folder.ts'
import type { BaseEnvironment } from './environment/base.ts'
import { CommandSecrets } from './environment/command-secrets.ts'
import type { InheritedEnvironments } from './environment/inherited.ts'
import type { NamedSecrets } from './environment/named-secrets.ts'
import type { PassedSecrets } from './environment/passed-secrets.ts'
import { notOurs, orForgotten, throwIfSurvived, whileUp } from './keeper-answer.ts'
import type { KeeperSide } from './keeper-side.ts'
import { leftoversOf } from './leftovers.ts'
import { CommandOutput } from './output/command-output.ts'
import { OutputUpkeep } from './output/output-upkeep.ts'
import { endSignalOf, missingEnv, type Settings } from './plan.ts'

/** Runs commands for a kernel, and answers the verbs about them. */
export class Commands {
  readonly home: DataFolderPaths
  readonly output: CommandOutput
  readonly secrets: CommandSecrets
  readonly passed: PassedSecrets
  readonly inherited: InheritedEnvironments
  readonly upkeep: OutputUpkeep
  readonly #settings: Settings
  readonly #recent = new RecentStarts()
  readonly #lock: Lock
  readonly #keepers: readonly KeeperSide[]
  readonly #environment: BaseEnvironment
  #kernel: Kernel | undefined

  constructor(parts: {
    readonly home: DataFolderPaths
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
    this.upkeep = new OutputUpkeep({
      home: parts.home,
      totalBytes: parts.totalBytes,
      forget: (pids) => this.#forget(pids),
      onTrouble: parts.onTrouble,
    })
    this.#lock = parts.lock
    this.#keepers = parts.keepers
    this.#environment = parts.environment
    this.#settings = parts.settings
  }

  /** Where agents write what their models stream, so that it is read as output is. */
  get liveLogs() {
    return {
      output: this.home.output,
      minFreeBytes: this.#settings.caps.minFreeBytes,
      grew: (pid: Pid) => this.output.liveGrowth.grew(pid),
    }
  }

  get executors(): readonly KeeperSide[] {
    return this.#keepers
  }

  /** The keeper of new commands. */
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

  /** A folder belongs to one store: another store has no records of its commands. */
  async refuseWrongStore(kernel: Kernel): Promise<void> {
    const foreign: ProgramState[] = []
    for (const keeper of this.#keepers) foreign.push(...(await keeper.foreign(kernel)))
    if (foreign.length > 0) throw wrongStore(this.home, foreign)
  }

  async clearStrays(kernel: Kernel): Promise<void> {
    for (const keeper of this.#keepers) await keeper.clearStrays(kernel)
  }

  /** The keeper that runs the program; the current one if the program has ended. */
  keeperOf(pid: Pid): KeeperSide {
    return this.#keepers.find((keeper) => keeper.runs(pid)) ?? this.keeper
  }

  /** Since when, and how many bytes of, its output is held back because the disk is full. */
  heldBack(pid: Pid): HeldBack | undefined {
    return this.keeperOf(pid).heldBackOutput.of(pid)
  }

  /** The held output and unrecorded ends of all commands. */
  get backlog(): { readonly held: readonly HeldBack[]; readonly unrecordedEnds: number } {
    return {
      held: this.#keepers.flatMap(({ heldBackOutput }) => heldBackOutput.all()),
      unrecordedEnds: this.#keepers.reduce((sum, keeper) => sum + keeper.unrecordedEnds, 0),
    }
  }

  graceOf(record: ProcessRecord): number {
    return commandSpecOf(record).graceMs ?? this.#settings.graceMs
  }

  /** The names in `passEnv` for which there is no variable: the command runs without them. */
  missingEnv(record: ProcessRecord, kernel: Kernel): Promise<string[]> {
    return missingEnv(record, kernel, {
      environment: this.#environment,
      passed: this.passed,
      inherited: this.inherited,
    })
  }

  /** The pid of the same command of the same owner, if it was started moments ago. Remembers this one. */
  duplicateOf(record: ProcessRecord): Pid | undefined {
    return this.#recent.duplicateOf(record)
  }

  /** Whether the requested end is complete within this time. Throws an error that names survivors. */
  async isEndOver(record: ProcessRecord, withinMs: number): Promise<boolean> {
    const { pid } = record
    const ending = this.keeperOf(pid).endAnswer(pid).catch(orForgotten)
    const answer = await withTimeout(whileUp(record, ending), withinMs, 'late')
    if (answer === 'late') return false
    if (answer?.how === 'not_ours') throw new RefusedError(notOurs(pid))
    throwIfSurvived(pid, answer)
    return true
  }

  /** Ends the remaining descendants of an ended command, for a second kill. True if that was complete in time. */
  async endLeftBehind(record: ProcessRecord, graceMs: number, withinMs: number): Promise<boolean> {
    const { pid, program } = record
    if (program === null || !this.keeper.hasProgramOf(record)) return true
    const { osPid, startTime, boot, group } = program
    const asked = { pid, signal: endSignalOf(record), graceMs, program: { osPid, startTime, boot, group } }
    const answer = await withTimeout(whileUp(record, this.keeper.ask('end', asked)), withinMs, 'late')
    if (answer === 'late') return false
    throwIfSurvived(pid, answer)
    return true
  }

  /** The processes that have ended and left programs running, as far as their keepers know. */
  leftovers(): Promise<Pid[]> {
    return leftoversOf(this.#keepers)
  }

  /** Reads the login shell's environment again. */
  refreshEnvironment(): Promise<void> {
    return this.#environment.refresh()
  }

  async #forget(pids: readonly Pid[]): Promise<void> {
    for (const pid of pids) await this.output.forget(pid)
    if (pids.length > 0) await this.passed.forget(pids)
  }

  async close(): Promise<void> {
    await this.upkeep.close()
    await this.inherited.settled()
    try {
      for (const keeper of this.#keepers) await keeper.close()
    } finally {
      this.#lock.release()
    }
  }
}

const DUPLICATE_MS = 5_000
/** Of more starts than this within that time, only the latest are remembered. */
const MAX_RECENT = 10_000

/** Commands that were started moments ago, to warn an agent that starts the same one twice. */
class RecentStarts {
  /** By a hash of owner, spec and folder; the latest last. */
  readonly #recent = new Map<string, { readonly pid: Pid; readonly at: number }>()

  /** The pid of the same command of the same owner, if it was started moments ago. Remembers this one. */
  duplicateOf(record: ProcessRecord): Pid | undefined {
    const { pid, owner, spec, cwd, restartOf, createdAt } = record
    const key = createHash('sha256')
      .update(canonical([owner, spec, cwd] as Json))
      .digest('base64')
    const earlier = this.#recent.get(key)
    this.#recent.delete(key)
    this.#recent.set(key, { pid, at: createdAt })
    for (const [oldest, { at }] of this.#recent) {
      if (this.#recent.size <= MAX_RECENT && createdAt - at <= DUPLICATE_MS) break
      this.#recent.delete(oldest)
    }
    if (earlier === undefined || earlier.pid === pid || restartOf !== null) return undefined
    return createdAt - earlier.at <= DUPLICATE_MS ? earlier.pid : undefined
  }
}
