import type { Amounts } from '../core/allowance/amounts.ts'
import type { Clock } from '../core/clock.ts'
import type { Variables } from '../core/environment/secrets.ts'
import type { outgoingMessage } from '../core/message/context-messages.ts'
import type { StoredEvent } from '../core/process/event.ts'
import type { WaitRef } from '../core/process/intent.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Outcome, ProcessRecord } from '../core/process/record.ts'
import type { Request } from '../kernel/executor.ts'
import type { OwnIntent } from '../kernel/perform-as.ts'
import type { Child, ChildToRegister } from '../verbs/workflow-function.ts'

/**
 * The log and the lease of one running workflow process. They are kept by a kernel in this program, or by a daemon that a worker
 * is connected to.
 */
export interface Ledger {
  /** The record at the start of this attempt. */
  readonly record: ProcessRecord
  readonly clock: Clock
  /** Aborted by a stop request, or when the lease is lost. */
  readonly signal: AbortSignal
  onRequest(listener: (request: Request) => void): () => void
  /** Other processes may have the slot of this attempt until the returned function is called. */
  lendSlot(): () => void
  /** One page of the process's events, after a `seq`. */
  events(after: number): Promise<{ readonly events: readonly StoredEvent[]; readonly isLast: boolean }>
  /** Calls the listener with the process's events as they are committed; with null if some may have been missed. */
  onEvents(listener: (events: readonly StoredEvent[] | null) => void): () => void
  /** Writes with the fence of this attempt. */
  write(intent: OwnIntent): Promise<Written>
  /** Registers a child for the step at this index, or returns the one that an earlier attempt registered. */
  spawn(request: ChildToRegister, stepIndex: number): Promise<Child>
  /** Waits for a process to end. Rejects if `over` is aborted first. */
  waitForOutcome(pid: Pid, over: AbortSignal): Promise<Outcome>
  /** The outcome of a process; null if it has not ended. */
  findOutcome(pid: Pid): Promise<Outcome | null>
  /** Releases the lease, if the process still waits for all of these. Returns whether it did. */
  park(waits: readonly WaitRef[]): Promise<boolean>
  /** Undefined while the lease is certainly held. Otherwise resolves once it is confirmed, or `signal` is aborted. */
  sure(): Promise<void> | undefined
  keyFor(wait: WaitRef): Promise<string>
  /** Charges once per replay key. */
  charge(charging: {
    readonly amounts: Amounts
    readonly done: boolean
    readonly replayKey: string
  }): Promise<void>
  /** Sends a message once per key. */
  sendMessage(sending: Outgoing & { readonly key: string }): Promise<void>
  /** The variables of the process's environment. Throws if a secret is not set. */
  variables(): Promise<Variables>
  /** A secret of this process, the same in every attempt. */
  seed(): Promise<string>
}

/** A message of the process, checked and encoded. */
export type Outgoing = ReturnType<typeof outgoingMessage>

export type Written =
  | { readonly type: 'appended' | 'kept'; readonly at: number }
  | { readonly type: 'replayed'; readonly event: StoredEvent }
