import type { HeldBack, KeeperIdentity, ProgramIdentity, ProgramState, Usage } from './program-state.ts'
import type { SpawnPlan } from './spawn-plan.ts'

/**
 * The protocol between daemon and keeper: lines of JSON over a private socket. The daemon sends requests (`Asks`), each with one
 * answer; the keeper also sends events (`Tell`). Output bytes never travel here: readers read the log.
 *
 * A keeper outlives the daemon that started it, and that daemon's version. Within one `PROTOCOL` only optional members may
 * be added; any other change needs a new number, and then the old keeper keeps its programs until they have ended.
 */
export const PROTOCOL = 1

interface Survivor {
  readonly osPid: number
  readonly name: string
}

/** The result of an end. `survived` names the survivors; a process counts as gone only after it was seen to be gone. */
export type EndAnswer =
  | { readonly how: 'already_gone' | 'asked' | 'forced' }
  | { readonly how: 'survived'; readonly survivors: readonly Survivor[] }
  /** The PID belongs to another process now, or its identity cannot be read: nothing was signalled. */
  | { readonly how: 'not_ours' }

export type WriteAnswer =
  | { readonly type: 'written'; readonly bytes: number }
  /**
   * This `seq`, or a higher one, was written before: nothing was typed now. `bytes` is what that write typed; 0 if it is not one
   * of the last 64.
   */
  | { readonly type: 'replayed'; readonly bytes: number }
  | { readonly type: 'no_stdin' | 'closed' | 'ended' }
  /** The program does not read its input, and this much is waiting already. */
  | { readonly type: 'full'; readonly waiting: number }

/** Each request and its answer. */
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
  /**
   * Starts a program, at most once per pid: a repeated request is answered with the state of the first one. `fifos`: names of
   * spare FIFOs, which the daemon holds open, so that the output survives the keeper from the first byte.
   */
  spawn: [
    {
      readonly pid: string
      readonly fence: number
      readonly plan: SpawnPlan
      readonly fifos?: readonly string[]
    },
    ProgramState,
  ]
  /** The current state; null if no program was ever begun for this pid, or its end was acknowledged. */
  state: [{ readonly pid: string }, ProgramState | null]
  /**
   * Answered when the end is complete. A request during an end joins it; the shorter grace and the stronger signal count. For a
   * program that the keeper has forgotten, `program` identifies it: its leftovers are searched for by marker and by cgroup.
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
   * The pids whose programs have ended and left others running, as far as those can be found. An older keeper does not know this
   * request (`bad_ask`).
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
   * Sets the limits of the whole run; null: no limit. Past usage counts, and may exceed them already. An older keeper does not
   * know this request (`bad_ask`), and keeps the limits of the plan.
   */
  limits: [
    { readonly pid: string; readonly cpuSeconds: number | null; readonly outputBytes: number | null },
    { readonly type: 'set' | 'ended' },
  ]
  resize: [
    { readonly pid: string; readonly cols: number; readonly rows: number },
    { readonly type: 'resized' | 'no_pty' | 'ended' },
  ]
  /** While on, `grew` events report that the log grows. Answers with its current length. */
  follow: [{ readonly pid: string; readonly on: boolean }, { readonly end: number }]
  usage: [{ readonly pids: readonly string[] }, { readonly usages: Readonly<Record<string, Usage | null>> }]
  /** The outcome is in the store: the keeper forgets the program, but not its output. */
  acknowledge: [{ readonly pid: string }, Record<string, never>]
  /** Takes over the programs of a dead keeper of another protocol. Answers with all programs of this keeper. */
  recover: [Record<string, never>, { readonly programs: readonly ProgramState[] }]
  /** The daemon shuts down in order. A keeper without programs exits, too. */
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
  /** The program has ended, or is lost. Repeated with every hello until it is acknowledged. */
  | { readonly tell: 'ended'; readonly state: Exclude<ProgramState, { state: 'running' }> }
  | { readonly tell: 'grew'; readonly pid: string; readonly end: number }
  /** The output is held back, or no longer (null). */
  | { readonly tell: 'held'; readonly pid: string; readonly heldBack: HeldBack | null }
  /** A problem that a person should know about, such as a full disk. */
  | { readonly tell: 'trouble'; readonly pid: string | null; readonly message: string }
