import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** Where a daemon keeps what is its own. Names alone: nothing is read or made here. */
export interface HomePaths {
  readonly folder: string
  /** Configuration, if there is any. */
  readonly config: string
  /** The embedded store. */
  readonly store: string
  /** The data folder of commands. */
  readonly commands: string
  /** Whoever can open it is the user. */
  readonly socket: string
  /** Which daemon is ready, or stops; there while one is. */
  readonly daemon: string
  /** Hashes of the tokens, and what each may do. */
  readonly tokens: string
  /** The admin token that was made at the first start. */
  readonly token: string
  /** Values of secrets, for the owner alone. */
  readonly secrets: string
  /** Signs the ids of MCP connections. */
  readonly mcpKey: string
  /** What a daemon in the background logs. */
  readonly log: string
  /** How far telemetry has been told of. */
  readonly telemetry: string
}

/** What `daemon.json` says while a daemon is there. */
export interface RunningDaemon {
  readonly osPid: number
  readonly startTime: string | null
  /** Of the machine, whose start times begin anew with each; empty where it does not say. */
  readonly bootId: string
  readonly url: string | null
  readonly version: string
  readonly startedAt: number
  /** Whether `reeve run -d` gives commands the environment of the shell; earlier versions do not say. */
  readonly inheritEnv?: boolean
  /** It was asked to stop, and is about to be gone. */
  readonly stopping?: boolean
}

/** `REEVE_HOME`, else `.reeve` in the user's folder. */
export function homeFolder(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const given = env['REEVE_HOME']
  return given === undefined || given === '' ? join(homedir(), '.reeve') : resolve(given)
}

export function homePaths(folder: string = homeFolder()): HomePaths {
  const at = resolve(folder)
  return {
    folder: at,
    config: join(at, 'reeve.json'),
    store: join(at, 'reeve.db'),
    commands: join(at, 'commands'),
    socket: join(at, 'reeve.sock'),
    daemon: join(at, 'daemon.json'),
    tokens: join(at, 'tokens.json'),
    token: join(at, 'token'),
    secrets: join(at, 'secrets.json'),
    mcpKey: join(at, 'mcp-key'),
    log: join(at, 'daemon.log'),
    telemetry: join(at, 'telemetry.json'),
  }
}
