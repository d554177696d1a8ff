import type { Amounts } from '../core/allowance/amounts.ts'
import type { outgoingMessage } from '../core/message/context-messages.ts'
import type { WaitRef } from '../core/process/intent.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { Answered } from '../kernel/await-answer.ts'
import type { OwnIntent } from '../kernel/perform-as.ts'
import type { ChildOfTool } from '../verbs/tool-function.ts'

/** The log and the lease of one running tool process. They are kept by a kernel in this program, or by a worker's daemon. */
export interface ToolLedger {
  /** The record at the start of this attempt. */
  readonly record: ProcessRecord
  /** Aborted by a stop request, or when the lease is lost. */
  readonly signal: AbortSignal
  now(): number
  /** Writes with the fence of this attempt. Returns whether an earlier attempt had written it. */
  write(intent: OwnIntent): Promise<{ readonly isReplayed: boolean }>
  /** Registers the child with this number, or returns the one that an earlier attempt registered. */
  spawn(request: ChildOfTool, number: number): Promise<ProcessRecord>
  /** Waits for a process to end. Rejects when `signal` is aborted. Others may have the slot meanwhile. */
  waitForEnd(pid: Pid): Promise<ProcessRecord>
  /** Enters a wait, and leaves it with its answer. An earlier attempt's answer and deadline count. */
  waitForAnswer(wait: WaitRef, until: number | null): Promise<Answered>
  /** Sends a message once per key. */
  sendMessage(sending: ReturnType<typeof outgoingMessage> & { readonly key: string }): Promise<void>
  keyFor(wait: WaitRef): Promise<string>
  /** Charges once per replay key. */
  charge(charging: {
    readonly amounts: Amounts
    readonly done: boolean
    readonly replayKey: string
  }): Promise<void>
  /** Resolves when the process is not paused. */
  untilResumed(): Promise<void>
}
