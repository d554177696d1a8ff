import type { Amounts } from '../core/allowance/amounts.ts'
import type { Clock } from '../core/clock.ts'
import type { Variables } from '../core/environment/secrets.ts'
import type { StoredEvent } from '../core/process/event.ts'
import type { WaitRef } from '../core/process/intent.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Outcome, ProcessRecord } from '../core/process/record.ts'
import type { Request } from '../kernel/executor.ts'
import type { OwnIntent } from '../kernel/perform-as.ts'
import type { Child, ChildToRegister } from '../verbs/durable-function.ts'

/** The one process that is run, as whoever keeps its log sees it: a kernel here, or a daemon elsewhere. */
export interface Ledger {
  /** As it was when this attempt began. */
  readonly record: ProcessRecord
  readonly clock: Clock
  /** Aborted when it is to stop, or the lease is lost. */
  readonly signal: AbortSignal
  onRequest(listener: (request: Request) => void): () => void
  /** Its events after a place, a page of them. */
  events(after: number): Promise<{ readonly events: readonly StoredEvent[]; readonly isLast: boolean }>
  /** Hears its events as they are committed; null when some may have been missed. */
  onEvents(listener: (events: readonly StoredEvent[] | null) => void): () => void
  /** Writes under the fence of this attempt. */
  write(intent: OwnIntent): Promise<Written>
  /** Registers a child for the step at this place, or finds the one that it registered before. */
  spawn(request: ChildToRegister, place: number): Promise<Child>
  /** When it has ended; rejects when `over` is aborted first. */
  outcomeOf(pid: Pid, over: AbortSignal): Promise<Outcome>
  /** How it ended, if it has. */
  endedAs(pid: Pid): Promise<Outcome | null>
  /** Gives the lease back, if it still waits for all of these. */
  park(waits: readonly WaitRef[]): Promise<boolean>
  /** Undefined while the lease is certainly held; else when it is, or this attempt has been told that it is lost. */
  sure(): Promise<void> | undefined
  keyFor(wait: WaitRef): Promise<string>
  /** Once, whoever repeats it under this key. */
  charge(charging: {
    readonly amounts: Amounts
    readonly done: boolean
    readonly replayKey: string
  }): Promise<void>
  /** The variables of its environment. Throws where a secret is not set. */
  variables(): Promise<Variables>
  /** A secret of this process, the same in every attempt. */
  seed(): Promise<string>
}

export type Written =
  | { readonly type: 'appended' | 'kept'; readonly at: number }
  | { readonly type: 'replayed'; readonly event: StoredEvent }
