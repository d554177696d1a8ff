import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** The files of a daemon's home folder. Paths alone: nothing is read or created here. */
export interface HomePaths {
  readonly folder: string
  /** The configuration; it is optional. */
  readonly config: string
  /** The embedded store. */
  readonly store: string
  /** The data folder of commands. */
  readonly commands: string
  /** A client that can open it counts as the user. */
  readonly socket: string
  /** The announced daemon: it exists while a daemon is ready or stops. */
  readonly daemon: string
  /** Hashes of the tokens, and the role of each. */
  readonly tokens: string
  /** The admin token, created at the first start. */
  readonly token: string
  /** Values of secrets, readable by the owner alone. */
  readonly secrets: string
  /** Signs the ids of MCP connections. */
  readonly mcpKey: string
  /** The log of a daemon in the background. */
  readonly log: string
  /** Positions and hashes of the audit, by which `reeve audit verify` finds a cut or replaced chain. */
  readonly auditAnchors: string
  /** Signs the start of an audit that retention has shortened. */
  readonly auditKey: string
  /** The feed position up to which telemetry was exported. */
  readonly telemetry: string
}

/** `REEVE_HOME`, else `.reeve` in the user's home folder. */
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
    auditAnchors: join(at, 'audit-anchors.jsonl'),
    auditKey: join(at, 'audit-key'),
    telemetry: join(at, 'telemetry.json'),
  }
}
