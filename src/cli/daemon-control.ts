import type { RunningDaemon } from '../client/home.ts'
import type { OutputOf, Reeve } from '../verbs/reeve.ts'
import type { Inherited } from '../verbs/shapes/inherited.ts'

/**
 * What the command line needs of the daemon's own code. It is handed in by the program, which loads the code behind a member
 * when it is called: whoever lists processes loads none of it.
 */
export interface DaemonControl {
  /** Which Reeve this is. */
  version(): string
  /** How a person calls this program: `reeve`, if that is found in PATH. */
  calledAs(): string
  /** Becomes the daemon; resolves with the exit code when it has stopped. */
  up(home: string, flags: UpFlags, hears: UpHears): Promise<number>
  /** Starts one in the background, and resolves when it is ready. One that is there is fine too. */
  start(home: string, flags: UpFlags): Promise<RunningDaemon>
  /** The one that is ready or about to stop; null if there is none. */
  running(home: string): Promise<RunningDaemon | null>
  /** Whether the last one was stopped in order, or is about to be: then nobody but its owner starts another. */
  wasStopped(home: string): Promise<boolean>
  /** Stops it in order, and resolves when it is gone; null if none runs. */
  down(home: string, options: { readonly keep: boolean }): Promise<RunningDaemon | null>
  /** What can be set: the options of `up` and `config`. */
  settings(): Promise<readonly SettingSpec[]>
  /** What is in force, and where it comes from. */
  configuration(home: string, flags: UpFlags): Promise<readonly Setting[]>
  /** Environment, umask and limits that a program started here would get. */
  inherited(): Promise<Inherited>
  tokens(home: string): Promise<TokenControl>
  secrets(home: string): Promise<SecretControl>
  /** Copies a home into a new folder while its daemon runs. */
  backUp(home: string, into: string, options: BackUpOptions): Promise<BackUpReport>
  /** Fills a home that has no store yet from a backup. */
  restore(home: string, from: string): Promise<RestoreReport>
  /** Looks at the machine and at the daemon's files, one after the other. */
  checks(home: string): AsyncIterable<Check>
  /** Speaks MCP on standard input and output until they end; what goes on by itself meanwhile goes the quiet way. Null: a session of the client's own. */
  mcp(
    reeve: Reeve,
    quiet: Reeve,
    options: {
      readonly session: string | null
      readonly structured: boolean
      /** When the client connected, by the clock of the daemon. */
      readonly since: number
      /** The daemon is on this machine: commands get the variables that this program was started with. */
      readonly sharesEnvironment: boolean
      /** Starts the daemon where somebody has stopped it. */
      readonly startDaemon: () => Promise<void>
    },
  ): Promise<number>
  demo(): Promise<number>
}

/** What a daemon in the foreground tells the command line that it is part of. */
interface UpHears {
  ready(daemon: RunningDaemon): void
  /** The commands that run when it begins to stop. */
  stopping(live: readonly OutputOf<'show'>[], options: { readonly keep: boolean }): void
}

/** What was given on the command line, by key of the setting. */
export type UpFlags = Readonly<Record<string, string | boolean | undefined>>

export interface SettingSpec {
  readonly key: string
  /** Without its dashes. */
  readonly option: string
  /** Of the environment. */
  readonly variable: string
  readonly isSwitch: boolean
  /** Not for the eyes of everybody who can list processes. */
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
  readonly createdAt: number
}

interface TokenControl {
  create(asked: {
    readonly role: string
    readonly session?: string | undefined
    readonly label?: string | undefined
  }): Promise<{ readonly token: string; readonly id: string }>
  list(): Promise<readonly Token[]>
  /** False if there is none. */
  revoke(id: string): Promise<boolean>
}

interface SecretControl {
  set(name: string, value: string): Promise<'set' | 'replaced'>
  /** Names alone. */
  list(): Promise<readonly { readonly name: string; readonly setAt: number }[]>
  /** False if there is none. */
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
  /** What to do about it. */
  readonly fix?: string
}
