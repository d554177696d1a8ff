import type { ResourceLimits } from '../../os/resource-limits.ts'
import type { SegmentCaps } from '../../output-log/segments.ts'

export interface OutputCaps extends SegmentCaps {
  /** With less than this free on disk, programs that write are held back. */
  readonly minFreeBytes: number
}

/** Everything the keeper needs to start one program; nothing of it is looked up later. */
export interface SpawnPlan {
  readonly argv: readonly string[]
  readonly cwd: string
  /** The whole environment; the keeper adds only the marker. */
  readonly env: Readonly<Record<string, string>>
  readonly pty: { readonly cols: number; readonly rows: number } | null
  /** `text` is the whole input, given at once. A PTY always has one. */
  readonly stdin: 'null' | 'pipe' | { readonly text: string }
  readonly output: 'merged' | 'tagged' | 'direct'
  readonly caps: OutputCaps
  readonly timeoutMs: number | null
  readonly idleTimeoutMs: number | null
  readonly limits: {
    readonly memoryBytes: number | null
    readonly cpuSeconds: number | null
    readonly openFiles: number | null
    readonly outputBytes: number | null
  }
  /** The signal that asks the program to end, and the time before it is forced. 0: never forced. */
  readonly endSignal: string
  readonly graceMs: number
  /** `marker`: no cgroup is made, even where one could be. */
  readonly tree: 'auto' | 'marker'
  /** The caller's. An older keeper does not know them: the program then has the keeper's own. */
  readonly umask?: number
  readonly rlimits?: ResourceLimits
}
