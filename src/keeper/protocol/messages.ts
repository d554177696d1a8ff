import type { ResourceLimits } from './limits-file.ts'

/**
 * What daemon and keeper say to each other: lines of JSON over a private socket. The daemon asks, and each question gets
 * one answer; the keeper also tells, unasked, of what happens. Output bytes never travel here: readers read the log.
 *
 * A keeper outlives the daemon that started it, and that daemon's version. Within one `PROTOCOL` only optional members may
 * be added; anything else is a new number, and then the old keeper is left its programs until they have ended.
 */
export const PROTOCOL = 1

/** What ends lines: longer ones are a broken peer. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024

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

/** What is known of a program's OS process. A PID without start time is never signalled. */
export interface ProgramIdentity {
  readonly osPid: number
  readonly startTime: string | null
  readonly boot: string
  /** Its process group, which it leads. */
  readonly group: number
  /** How the whole tree is found: by a cgroup of its own, or by the marker in its environment. */
  readonly tree: 'cgroup' | 'marker'
  readonly cgroup: string | null
  /** How a memory limit is kept, where there is one. */
  readonly memoryBy: 'cgroup' | 'sampled' | null
}

export interface Usage {
  readonly cpuMs: number | null
  readonly peakMemoryBytes: number | null
  /** What it has in use now; said while it runs, and by keepers that know how to. */
  readonly memoryBytes?: number | null
  readonly readBytes: number | null
  readonly writtenBytes: number | null
  /** At least a part of it was looked at now and then, so that what lay between is not in it. */
  readonly sampled: boolean
}

/** Why the keeper itself ended a program, or that it was asked to. */
export type EndedBecause = 'asked' | 'timeout' | 'idle' | `limit:${'memory' | 'cpu' | 'output'}`

export interface Exit {
  readonly exitCode: number | null
  /** By name, `SIGTERM`. */
  readonly signal: string | null
  readonly at: number
  /** The length of the output log then; what lies behind it came late, from descendants. */
  readonly outputEnd: number
  /** Null where it ended of its own accord, before anybody signalled it. */
  readonly because: EndedBecause | null
  readonly usage: Usage | null
  /** How many descendants were still alive; null where nobody could count them. */
  readonly leftBehind: number | null
}

/** Output that the disk does not take: the program waits until there is space. */
export interface HeldBack {
  readonly since: number
  /** Read from the program, and not written yet. */
  readonly bytes: number
}

/**
 * Where one command is, as far as this keeper knows. `lost`: an earlier keeper had it, it is gone, and nobody saw how.
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
      /** It is gone already, or is being ended because its terminal is: it will be `lost` in a moment. */
      readonly leaving?: boolean
      /** Missing where nothing is held back, and from keepers that don't tell. */
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

export interface OutputCaps {
  readonly headBytes: number
  readonly tailBytes: number
  readonly segmentBytes: number
  /** With less than this free on disk, programs that write are held back. */
  readonly minFreeBytes: number
}

/** Everything the keeper needs to start one program; nothing of it is looked up later. */
export interface SpawnPlan {
  readonly argv: readonly string[]
  readonly cwd: string
  /** The whole environment; the keeper adds the marker alone. */
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
  /** What asks it to end, and how long it may take before it is forced. 0: it is never forced. */
  readonly endSignal: string
  readonly graceMs: number
  /** `marker`: no cgroup is made, even where one could be. */
  readonly tree: 'auto' | 'marker'
  /** Of the caller. A keeper of an earlier version does not know them: the program then has the keeper's own. */
  readonly umask?: number
  readonly rlimits?: ResourceLimits
}

interface Survivor {
  readonly osPid: number
  readonly name: string
}

/** How an end went. `survived` names who is still there; only what was seen gone counts as gone. */
export type EndAnswer =
  | { readonly how: 'already_gone' | 'asked' | 'forced' }
  | { readonly how: 'survived'; readonly survivors: readonly Survivor[] }
  /** The PID belongs to somebody else now, or its identity cannot be read: nothing was signalled. */
  | { readonly how: 'not_ours' }

export type WriteAnswer =
  | { readonly type: 'written'; readonly bytes: number }
  /**
   * This `seq`, or a higher one, was written before: nothing was typed now. `bytes` is what that write typed; 0 if it is none
   * of the last 64, or never was one.
   */
  | { readonly type: 'replayed'; readonly bytes: number }
  | { readonly type: 'no_stdin' | 'closed' | 'ended' }
  /** It does not read what it is given, and this much is waiting already. */
  | { readonly type: 'full'; readonly waiting: number }

/** Each question and its answer. */
export interface Asks {
  hello: [
    {
      readonly protocol: number
      readonly token: string
      /** `id` tells two daemons in one OS process apart. */
      readonly daemon: { readonly osPid: number; readonly startTime: string; readonly id?: string }
    },
    { readonly keeper: KeeperIdentity; readonly programs: readonly ProgramState[] },
  ]
  /** At most once per pid, whatever happens: asked again, it answers with what became of the first time. */
  /** `fifos`: names of spare FIFOs, which whoever asks holds open: so what the program prints outlives its keeper from the first byte. */
  spawn: [
    {
      readonly pid: string
      readonly fence: number
      readonly plan: SpawnPlan
      readonly fifos?: readonly string[]
    },
    ProgramState,
  ]
  /** Where it is now; null if nothing is known of it: no program was ever begun for this pid, or it was acknowledged. */
  state: [{ readonly pid: string }, ProgramState | null]
  /**
   * Answered when it is over. Asked again meanwhile, it joins; a shorter grace and a stronger signal count. Of one that
   * the keeper has forgotten, `program` says what it was: then what it left behind is looked for by its marker, and in its
   * cgroup.
   */
  end: [
    {
      readonly pid: string
      readonly signal: string
      readonly graceMs: number
      readonly program?: Pick<ProgramIdentity, 'osPid' | 'startTime' | 'boot' | 'group'>
    },
    EndAnswer,
  ]
  /**
   * The pids whose programs have ended and left others running, as far as those can be found. A keeper of earlier days has no
   * such question (`bad_ask`).
   */
  leftovers: [Record<string, never>, { readonly pids: readonly string[] }]
  signal: [
    { readonly pid: string; readonly signal: string; readonly to: 'process' | 'group' },
    { readonly sent: 'sent' | 'ended' | 'not_ours' },
  ]
  pause: [{ readonly pid: string }, { readonly stopped: number }]
  resume: [{ readonly pid: string }, { readonly continued: number }]
  /** `data` is base64. */
  write: [{ readonly pid: string; readonly seq: number | null; readonly data: string }, WriteAnswer]
  closeInput: [{ readonly pid: string }, { readonly type: 'closed' | 'no_stdin' | 'ended' }]
  /**
   * What it may use from now on, all in all; null: no limit. What it has used of that already counts, and may be too much. A
   * keeper of earlier days has no such question (`bad_ask`), and keeps to the limits of the plan.
   */
  limits: [
    { readonly pid: string; readonly cpuSeconds: number | null; readonly outputBytes: number | null },
    { readonly type: 'set' | 'ended' },
  ]
  resize: [
    { readonly pid: string; readonly cols: number; readonly rows: number },
    { readonly type: 'resized' | 'no_pty' | 'ended' },
  ]
  /** While on, `grew` is told when its log grows. Answers with its length now. */
  follow: [{ readonly pid: string; readonly on: boolean }, { readonly end: number }]
  usage: [{ readonly pids: readonly string[] }, { readonly usages: Readonly<Record<string, Usage | null>> }]
  /** The outcome is in the store: the keeper forgets the program, but not its output. */
  acknowledge: [{ readonly pid: string }, Record<string, never>]
  /** A keeper of another protocol has died: takes over what it kept. Answers with all that is kept here now. */
  recover: [Record<string, never>, { readonly programs: readonly ProgramState[] }]
  /** The daemon goes, in order. A keeper with nothing to keep goes too. */
  leave: [Record<string, never>, { readonly stays: boolean }]
}

export type AskName = keyof Asks
export type Ask = { [Name in AskName]: { readonly id: number; readonly ask: Name } & Asks[Name][0] }[AskName]
export type Answer =
  | { readonly id: number; readonly answer: Asks[AskName][1] }
  | { readonly id: number; readonly error: KeeperRefusal }

/** `busy`: another daemon is connected, and lives. */
export type KeeperRefusal =
  | { readonly code: 'busy'; readonly message: string; readonly osPid: number }
  | {
      readonly code: 'wrong_token' | 'wrong_protocol' | 'bad_ask' | 'unknown_pid' | 'failed'
      readonly message: string
    }

export type Tell =
  /** It has ended, or is lost. Told again with every hello until it is acknowledged. */
  | { readonly tell: 'ended'; readonly state: Exclude<ProgramState, { state: 'running' }> }
  | { readonly tell: 'grew'; readonly pid: string; readonly end: number }
  /** Its output is held back, or not any more (null). */
  | { readonly tell: 'held'; readonly pid: string; readonly heldBack: HeldBack | null }
  /** Something that a person should hear of: a disk that is full, say. */
  | { readonly tell: 'trouble'; readonly pid: string | null; readonly message: string }

/**
 * Cuts a stream of bytes into lines and gives each to `heard`, parsed. Throws on a line that is no JSON. One that is too long
 * is passed over, and `tooLong` is given its beginning; without `tooLong` it throws.
 */
export function lineReader(
  heard: (message: unknown) => void,
  tooLong?: (start: string) => void,
): (chunk: Buffer) => void {
  let kept: Buffer[] = []
  let keptBytes = 0
  let isPassedOver = false
  const forget = () => {
    kept = []
    keptBytes = 0
  }
  return (chunk) => {
    let from = 0
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      const line = chunk.subarray(from, at)
      from = at + 1
      const whole = kept.length === 0 ? line : Buffer.concat([...kept, line])
      const isWhole = !isPassedOver
      isPassedOver = false
      forget()
      if (isWhole) heard(JSON.parse(whole.toString('utf8')))
    }
    if (from === chunk.length || isPassedOver) return
    kept.push(from === 0 ? chunk : chunk.subarray(from))
    keptBytes += chunk.length - from
    if (keptBytes <= MAX_LINE_BYTES) return
    if (tooLong === undefined) throw new Error(`A line of more than ${MAX_LINE_BYTES} bytes`)
    isPassedOver = true
    tooLong(kept[0]?.toString('latin1', 0, 100) ?? '')
    forget()
  }
}

export function lineOf(message: Ask | Answer | Tell): string {
  return `${JSON.stringify(message)}\n`
}
