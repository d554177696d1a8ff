import type { RunningDaemon } from '../home/announced-daemon.ts'
import type { OutputOf, Reeve } from '../verbs/reeve.ts'

/**
 * The daemon's code as the command line needs it. The program passes it in, and each member loads its code when it is called: a
 * subcommand that lists processes does not load daemon code.
 */
export interface DaemonControl {
  version(): string
  /** How to type this program's name in a shell: `reeve`, if that is in PATH. */
  calledAs(): string
  /** Becomes the daemon; resolves with the exit code when it has stopped. */
  up(home: string, flags: UpFlags, listeners: UpListeners): Promise<number>
  /** Starts a daemon in the background unless one runs, and resolves when it is ready. */
  start(home: string, flags: UpFlags): Promise<RunningDaemon>
  /** The daemon that is ready or stopping; null if there is none. */
  running(home: string): Promise<RunningDaemon | null>
  /** Whether its user stopped the last daemon, or is stopping it: then only the user starts another. */
  wasStopped(home: string): Promise<boolean>
  /** Shuts the daemon down, and resolves when it is gone; null if none runs. */
  down(home: string, options: { readonly keep: boolean }): Promise<RunningDaemon | null>
  /** All settings, which are the options of `up` and `config`. */
  settings(): Promise<readonly SettingSpec[]>
  /** The value of each setting, and its source. */
  configuration(home: string, flags: UpFlags): Promise<readonly Setting[]>
  tokens(home: string): Promise<TokenControl>
  secrets(home: string): Promise<SecretControl>
  /** Copies a home into a new folder while its daemon runs. */
  backUp(home: string, into: string, options: BackUpOptions): Promise<BackUpReport>
  /** Fills a home that has no store yet from a backup. */
  restore(home: string, from: string): Promise<RestoreReport>
  /** Checks the machine, the daemon's files, and the policy file of a folder, one by one. */
  checks(home: string, folder: string): AsyncIterable<Check>
  /**
   * Serves MCP on standard input and output until they end. `quiet` is the connection for background requests, which start no
   * daemon.
   */
  mcp(
    reeve: Reeve,
    quiet: Reeve,
    options: {
      /** Null: a session of the client's own. */
      readonly session: string | null
      readonly structured: boolean
      /** When the client connected, by the clock of the daemon. */
      readonly since: number
      /** Commands get the environment of this program, because the daemon is on this machine. */
      readonly sharesEnvironment: boolean
      /** Starts the daemon if its user has stopped it. */
      readonly startDaemon: () => Promise<void>
      /** The person whose operator token the client has; null for an agent. */
      readonly operator: `human:${string}` | null
      /** The token of the client may only read. */
      readonly readOnly: boolean
      /** The preset that the session of the client begins with. */
      readonly preset: string | undefined
    },
  ): Promise<number>
  /** Serves an editor the Agent Client Protocol on standard input and output until they end. */
  acp(
    reeve: Reeve,
    options: {
      /** The models that the editor offers; agents begin with the first one. */
      readonly models: readonly [string, ...string[]]
      /** The preset that sessions begin with. */
      readonly preset: string | undefined
      /** The system prompt of agents. */
      readonly system: string | undefined
    },
  ): Promise<number>
  /** Resolves with the exit code. */
  demo(which: 'kernels' | 'agent'): Promise<number>
}

/** Called by a daemon in the foreground. */
interface UpListeners {
  ready(daemon: RunningDaemon): void
  /** `live`: the commands that run when the daemon begins to stop. */
  stopping(live: readonly OutputOf<'show'>[], options: { readonly keep: boolean }): void
}

/** Settings given on the command line, by key. */
export type UpFlags = Readonly<Record<string, string | boolean | undefined>>

export interface SettingSpec {
  readonly key: string
  /** Without its dashes. */
  readonly option: string
  /** The environment variable. */
  readonly variable: string
  readonly isSwitch: boolean
  /** Must not stand on a command line, which every user can read. */
  readonly isSecret: boolean
  readonly about: string
}

interface Setting {
  readonly key: string
  readonly value: unknown
  readonly from: string
}

interface Token {
  readonly id: string
  readonly role: string
  readonly session?: string | undefined
  readonly label?: string | undefined
  readonly person?: string | undefined
  readonly approver?: true | undefined
  readonly createdAt: number
}

interface TokenControl {
  create(asked: {
    readonly role: string
    readonly session?: string | undefined
    readonly label?: string | undefined
    readonly person?: string | undefined
    readonly approver?: true | undefined
  }): Promise<{ readonly token: string; readonly id: string }>
  list(): Promise<readonly Token[]>
  /** False if there is no such token. */
  revoke(id: string): Promise<boolean>
}

interface SecretControl {
  set(name: string, value: string): Promise<'set' | 'replaced'>
  /** The names, without values. */
  list(): Promise<readonly { readonly name: string; readonly setAt: number }[]>
  /** False if there is no such secret. */
  remove(name: string): Promise<boolean>
}

interface BackUpOptions {
  readonly now: number
  readonly onOutputCopied: (done: number, all: number) => void
}

interface BackUpReport {
  readonly folder: string
  readonly processes: number
  readonly files: number
  readonly bytes: number
}

interface RestoreReport {
  readonly home: string
  /** The home that the backup was made from. */
  readonly madeFrom: string
  readonly madeAt: number
  readonly processes: number
}

export interface Check {
  readonly name: string
  readonly state: 'good' | 'poor' | 'bad'
  readonly found: string
  readonly fix?: string
}
