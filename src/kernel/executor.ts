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
 * what `run` answers; a thrown error is the outcome `failed` (or `cancelled`, where a stop was asked for).
 */
export interface Executor {
  readonly serves: readonly Served[]
  /** Where somebody else holds what it executes: a keeper, which outlives this kernel. */
  readonly keeping?: Keeping
  run(work: Work, kernel: Kernel): Promise<Ending | Lost | Parked | Left>
  /** The kernel closes: nothing more is begun, and what is under way gets a moment to come out. */
  drain?(): Promise<void>
  /** How long it lets work that is under way go on after a stop was asked for; the kernel gives it up later than that. */
  graceMs?(record: ProcessRecord): number
  /** The end is written. */
  settled?(pid: Pid): void
}

/**
 * What is different for processes that a keeper holds: a kernel that starts goes on with what the keeper has, one that
 * closes leaves it there, and a kill is settled by the executor, which sees how the program really ended.
 */
export interface Keeping {
  /** The keeper now. Another one after this one has died. */
  readonly holder: Holder
  /** Incarnations of keepers whose processes were restored here from a backup: it goes on for them, and has no programs of theirs. */
  readonly restoredFrom?: readonly string[]
  /** Whether it can be given work at this moment. */
  readonly available: boolean
  /** How many processes it may run at once, now; one more is refused, so that no caller waits without knowing. */
  readonly most: number
  readonly full: Refusal
  /** What a starting kernel finds of a process that is held, before it goes on with it: still running, ended, or lost. */
  found(record: ProcessRecord): 'adopted' | 'completed' | 'abandoned'
}

/** It is gone, and nobody saw how. */
export interface Lost {
  readonly status: 'abandoned'
  readonly evidence: Evidence
  /** What is known of it all the same. */
  readonly result?: Json
}

/** It waits, and has given its lease back: whoever claims it next runs it again. */
export interface Parked {
  readonly status: 'parked'
}

/** Trouble kept it from going on, which is no outcome: it goes back in line. */
export interface Left {
  readonly status: 'left'
}

/** One process in one attempt, in the hands of its executor. */
export interface Work {
  /** The record as it was when this attempt began. */
  readonly record: ProcessRecord
  /** Aborted when a stop is asked for, or the lease is lost; its reason says which. */
  readonly signal: AbortSignal
  /** What every write of this attempt must carry. It may rise during the attempt, so ask for it each time. */
  fence(): Fence
  /** Hears what was and is asked of the process, in order. Answers with what ends the listening. */
  onRequest(listener: (request: Request) => void): () => void
}

export interface StopRequest {
  readonly type: 'stop'
  readonly how: StopHow
  readonly reason: string
  readonly source: Actor
  readonly graceMs?: number
}

export type Request = StopRequest | { readonly type: 'pause' } | { readonly type: 'resume' }
