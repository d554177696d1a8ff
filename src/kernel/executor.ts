import type { ResolvedAction } from '../core/capability/action.ts'
import type { Need } from '../core/capability/need.ts'
import type { Json } from '../core/json/json.ts'
import type { Holder, Served } from '../core/lease/holder.ts'
import type { Fence } from '../core/lease/lease.ts'
import type { Ending } from '../core/process/intent.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor, Evidence, ProcessRecord, StopHow } from '../core/process/record.ts'
import type { Refusal } from '../core/refusal.ts'
import type { Kernel } from './kernel.ts'

/**
 * The code that runs one kind of process. The kernel claims, calls `run`, keeps the lease, and ends the process with
 * the answer of `run`. A thrown error becomes the outcome `failed`, or `cancelled` if a stop was requested.
 */
export interface Executor {
  readonly serves: readonly Served[]
  /** Set if a keeper, which outlives this kernel, is the holder of the processes that it executes. */
  readonly keeping?: Keeping
  run(work: Work, kernel: Kernel): Promise<Ending | Lost | Parked | Left>
  /** The kernel closes: nothing more begins, and work that is under way gets a moment to finish. */
  drain?(): Promise<void>
  /** How long it lets work go on after a stop was requested. The kernel gives the attempt up later than that. */
  graceMs?(record: ProcessRecord): number
  /** Of commands: what this one would do here, for rules that tell commands apart. */
  resolve?(record: ProcessRecord, kernel: Kernel): Promise<ResolvedAction>
  /** Of tools: the effects of this call, for rules. Throws if the call cannot be made. */
  effectsOf?(record: ProcessRecord, kernel: Kernel): Promise<readonly Need[]>
  /** The end is written. */
  settled?(pid: Pid): void
}

/**
 * The differences for processes that a keeper holds: a starting kernel goes on with them, a closing kernel leaves them there,
 * and a kill is settled by the executor, which sees how the program really ended.
 */
export interface Keeping {
  /** The keeper now. Another one after this one has died. */
  readonly holder: Holder
  /** Incarnations of keepers whose processes were restored here from a backup: it goes on for them, without their programs. */
  readonly restoredFrom?: readonly string[]
  /** Whether it accepts work now. */
  readonly available: boolean
  /** How many processes it may run at once, now. One more is refused, so that no caller waits without knowing why. */
  readonly most: number
  readonly full: Refusal
  /** How a starting kernel finds a held process before it goes on with it: still running, ended, or lost. */
  found(record: ProcessRecord): 'adopted' | 'completed' | 'abandoned'
}

/** The program is gone, and its end was not seen. */
export interface Lost {
  readonly status: 'abandoned'
  readonly evidence: Evidence
  /** Facts that are known although the process was lost, for example matches that no notice reports. */
  readonly result?: Json
}

/** The process waits, and has given its lease back. The next claim runs it again. */
export interface Parked {
  readonly status: 'parked'
}

/** Trouble kept the process from going on. That is no outcome: it is queued again. */
export interface Left {
  readonly status: 'left'
}

/** One attempt at a process, as its executor sees it. */
export interface Work {
  /** The record as it was when this attempt began. */
  readonly record: ProcessRecord
  /** Aborted when a stop is requested, or the lease is lost. Its reason says which. */
  readonly signal: AbortSignal
  /** The fence that every write of this attempt carries. It may rise during the attempt, so read it each time. */
  fence(): Fence
  /** Calls the listener with every earlier and later request to the process, in order. Returns the unsubscribe function. */
  onRequest(listener: (request: Request) => void): () => void
  /**
   * Other processes may have the slot of this attempt until the returned function is called. Then it goes on at once, even if no
   * slot is free: the kernel claims nothing more until it is below its concurrency again.
   */
  lendSlot(): () => void
}

export interface StopRequest {
  readonly type: 'stop'
  readonly how: StopHow
  readonly reason: string
  readonly source: Actor
  readonly graceMs?: number
}

export type Request = StopRequest | { readonly type: 'pause' } | { readonly type: 'resume' }
