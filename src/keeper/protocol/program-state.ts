/** One keeper: a holder of leases, known by its OS process on one boot. */
export interface KeeperIdentity {
  /** `kp_…`, new with every keeper. */
  readonly id: string
  readonly protocol: number
  readonly host: string
  readonly boot: string
  readonly pidNamespace: string
  readonly osPid: number
  readonly startTime: string
}

/** The identity of a program's OS process, as far as it was read. A PID without start time is never signalled. */
export interface ProgramIdentity {
  readonly osPid: number
  readonly startTime: string | null
  readonly boot: string
  /** Its process group, which it leads. */
  readonly group: number
  /** How the whole tree is found: by a cgroup of its own, or by the marker in its environment. */
  readonly tree: 'cgroup' | 'marker'
  readonly cgroup: string | null
  /** How a memory limit is enforced, if there is one. */
  readonly memoryBy: 'cgroup' | 'sampled' | null
}

export interface Usage {
  readonly cpuMs: number | null
  readonly peakMemoryBytes: number | null
  /** The memory in use now; only while the program runs, and missing from older keepers. */
  readonly memoryBytes?: number | null
  readonly readBytes: number | null
  readonly writtenBytes: number | null
  /** At least a part was sampled, so that usage between two samples is missing. */
  readonly sampled: boolean
}

/** Why the keeper ended a program. */
export type EndedBecause = 'asked' | 'timeout' | 'idle' | `limit:${'memory' | 'cpu' | 'output'}`

export interface Exit {
  readonly exitCode: number | null
  /** By name, `SIGTERM`. */
  readonly signal: string | null
  readonly at: number
  /** The length of the output log at the exit; bytes behind it are late, from descendants. */
  readonly outputEnd: number
  /** Null if the program ended by itself, before any signal of the keeper. */
  readonly because: EndedBecause | null
  readonly usage: Usage | null
  /** How many descendants were still alive; null if they could not be counted. */
  readonly leftBehind: number | null
}

/** Output that a full disk does not take: the program waits until there is space. */
export interface HeldBack {
  readonly since: number
  /** Read from the program, and not written yet. */
  readonly bytes: number
}

/**
 * The state of one command's program. `lost`: an earlier keeper had it, and it is gone without a seen exit.
 * All but `running` are kept on disk until the daemon acknowledges them.
 */
export type ProgramState =
  | {
      readonly state: 'running'
      readonly pid: string
      readonly program: ProgramIdentity
      /** Taken over from a dead keeper: its exit code will not be known. */
      readonly orphaned: boolean
      readonly paused: boolean
      /** The program is gone already, or is being ended because its terminal is gone: it will be `lost` in a moment. */
      readonly leaving?: boolean
      /** Missing if nothing is held back, and from older keepers. */
      readonly heldBack?: HeldBack
    }
  | { readonly state: 'exited'; readonly pid: string; readonly program: ProgramIdentity; readonly exit: Exit }
  | {
      readonly state: 'failed_start'
      readonly pid: string
      readonly message: string
      readonly remedy: string
    }
  | {
      readonly state: 'lost'
      readonly pid: string
      readonly program: ProgramIdentity | null
      readonly evidence: 'keeper_lost' | 'holder_dead' | 'identity_mismatch'
      readonly outputEnd: number
    }
