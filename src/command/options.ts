import { COMMAND_DEFAULTS } from './defaults.ts'
import { userShell } from './environment/login.ts'
import type { Settings } from './plan.ts'

export interface CommandsOptions {
  /** The data folder: output logs, pipes, and the keeper's socket. No other program uses it. */
  readonly home: string
  /** How many commands may run at once; one more is refused. */
  readonly most?: number
  /** How long a command may take to end before it is forced. */
  readonly graceMs?: number
  /** `login`: the environment of an interactive login shell. `inherit`: the environment of this program. Neither has secrets. */
  readonly environment?: 'login' | 'inherit'
  /** The shell that runs a `run` line; the user's own by default. */
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

const SEGMENT_BYTES = 1024 * 1024

/** The settings that all commands of one daemon share. */
export function settingsOf({ shell, graceMs, tree, output = {} }: CommandsOptions): Settings {
  const { headBytes, tailBytes, minFreeBytes } = { ...COMMAND_DEFAULTS, ...output }
  return {
    shell: shell ?? userShell(),
    graceMs: graceMs ?? COMMAND_DEFAULTS.graceMs,
    tree: tree ?? COMMAND_DEFAULTS.tree,
    caps: { headBytes, tailBytes, segmentBytes: Math.min(SEGMENT_BYTES, tailBytes), minFreeBytes },
  }
}
