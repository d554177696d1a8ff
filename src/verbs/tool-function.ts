import type { Amounts } from '../core/allowance/amounts.ts'
import type { QuestionAnswer, QuestionInput } from '../core/approval/question.ts'
import type { Variables } from '../core/environment/secrets.ts'
import type { Json } from '../core/json/json.ts'
import type { OutgoingMessage, ReceiveAnswer, ReceiveOptions } from '../core/message/context-messages.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { WithValueInput } from '../core/value/encode-input.ts'
import type { Value } from '../core/value/value.ts'
import type { InputOf } from './reeve.ts'

/** A function of a program that runs as a `tool` process. Its return value is the result: JSON, or a `Value` that is encoded. */
export type ToolHandler = (context: ToolContext) => Promise<Value> | Value

/** The acts of a handler in its process's name. Their results survive a crash; plain variables do not. */
export interface ToolContext {
  readonly pid: Pid
  /** The decoded input: what `encodeValue` or the `spawn` of a context was given. */
  readonly input: Value
  /** 1 at first; more after an earlier holder died. */
  readonly attempt: number
  readonly record: ProcessRecord
  /** The variables of its environment, with the values of secrets; empty if it has none. */
  readonly env: Variables
  /** Aborted when the process is to stop, or another holder has taken it over. */
  readonly abortSignal: AbortSignal
  /** Appends an event of a type that the process declared. */
  append(type: string, payload: Value, options?: { readonly replayKey?: string }): Promise<void>
  /** Starts a child. A later attempt that makes the same call gets the same child. */
  spawn(request: ChildRequest): Promise<ProcessRecord>
  /** Waits for a process to end. */
  wait(pid: Pid): Promise<ProcessRecord>
  /** Takes the next signal of this name, sent before or after the call. */
  waitForSignal(name: string, options?: { readonly timeoutMs?: number }): Promise<SignalAnswer>
  /** Sends a message. A later attempt that makes the same call sends nothing again. */
  sendMessage(message: OutgoingMessage): Promise<void>
  /** Takes the next message that these options select, sent before or after the call. */
  receive(options?: ReceiveOptions): Promise<ReceiveAnswer>
  /** Asks a person, and waits for the reply. A later attempt that makes the same call asks nothing again. */
  ask(question: QuestionInput): Promise<QuestionAnswer>
  /** A one-shot key with which an outsider answers the next wait on this name. */
  keyFor(name: string): Promise<string>
  /** Sleeps until a time that later attempts keep. */
  sleep(ms: number): Promise<void>
  /**
   * Charges this process: before the work, so that a charge beyond the limit is refused; or after it, with `done`. A later
   * attempt that makes the same call charges nothing again.
   */
  charge(amounts: Amounts, options?: { readonly done?: boolean }): Promise<void>
  /** Resolves at once unless the process is paused; then when it is resumed. */
  untilResumed(): Promise<void>
}

/** A registration without the fields that the parent determines. The input of a tool or a workflow may be any `Value`. */
export type ChildRequest = WithValueInput<ChildOfTool>

/** A `ChildRequest` with its input encoded. */
export type ChildOfTool = DistributiveOmit<InputOf<'spawn'>, 'pid' | 'parent' | 'idempotencyKey'>

export type SignalAnswer = { readonly type: 'signal'; readonly value: Json } | { readonly type: 'timed_out' }

type DistributiveOmit<Union, Keys extends PropertyKey> = Union extends unknown ? Omit<Union, Keys> : never
