import type { Amounts } from '../core/allowance/amounts.ts'
import type { QuestionAnswer, QuestionInput } from '../core/approval/question.ts'
import type { Variables } from '../core/environment/secrets.ts'
import type { Json } from '../core/json/json.ts'
import type { OutgoingMessage, ReceiveAnswer, ReceiveOptions } from '../core/message/context-messages.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Outcome } from '../core/process/record.ts'
import type { WithValueInput } from '../core/value/encode-input.ts'
import type { Value } from '../core/value/value.ts'
import type { InputOf } from './reeve.ts'

/**
 * A durable function of the embedding program, run as a `workflow` process. It may start several times, after a crash or a long
 * wait, and reaches the same point each time: finished calls of the context are not repeated. So the code between two calls of
 * the context must not depend on time, randomness or the outside world; those belong in steps.
 */
export type WorkflowFunction<Input extends Value = Value, Result = unknown> = {
  // A method, so that a function may declare a narrower type for its input.
  run(context: WorkflowContext, input: Input): Promise<Result> | Result
}['run']

export interface WorkflowContext {
  readonly pid: Pid
  /** The decoded value that was passed to `encodeValue` or to `spawn` of a context. */
  readonly input: Value
  /** The variables of its environment, with the values of secrets; empty without an environment. */
  readonly env: Variables
  /** Aborted by a stop request, or when another holder has taken the process over. */
  readonly abortSignal: AbortSignal
  /**
   * Runs a function once, and keeps its result: JSON, `Date`, `Map`, `Set`, `Uint8Array`, `BigInt`, errors. A step that a crash
   * interrupted runs again.
   */
  step<Result>(
    name: string,
    run: (step: StepInfo) => Promise<Result> | Result,
    options?: StepOptions,
  ): Promise<Result>
  /** Sleeps. The end of the sleep is fixed, and no restart changes it. */
  sleep(ms: number): Promise<void>
  /** Takes the next signal of this name, sent before or after the call. Undefined after the timeout. */
  waitForSignal<Value extends Json = Json>(name: string): Promise<Value>
  waitForSignal<Value extends Json = Json>(
    name: string,
    options: { readonly timeoutMs?: number },
  ): Promise<Value | undefined>
  /** Sends a message, once. */
  sendMessage(message: OutgoingMessage): Promise<void>
  /** Takes the next message that these options select, sent before or after the call. */
  receive(options?: ReceiveOptions): Promise<ReceiveAnswer>
  /** Asks a person, once, and waits for the reply. */
  ask(question: QuestionInput): Promise<QuestionAnswer>
  /** A one-shot key with which anyone can answer the next wait for this signal from outside. */
  keyFor(name: string): Promise<string>
  /** Starts a child, once. */
  spawn(request: ChildOfWorkflow): Promise<Child>
  /** Waits for a child to end. */
  wait(child: Child | Pid): Promise<ChildOutcome>
  /**
   * Charges this process once: before the work, so that too much is refused, or after it, with `done`. Between steps the charge
   * is a step of its own. Inside a step it counts once for each try, also for a try that is repeated after a crash.
   */
  charge(amounts: Amounts, options?: { readonly done?: boolean }): Promise<void>
  /** The time of the last event of this process: the same in every attempt. */
  now(): number
  /** Between 0 and 1, the same in every attempt. */
  random(): number
  /** A random UUID, the same in every attempt. */
  uuid(): string
}

/** The argument of a step's function. */
export interface StepInfo {
  /** 1 for the first try. */
  readonly attempt: number
  readonly abortSignal: AbortSignal
  /** The same in every try of this step: for services that take an idempotency key. */
  readonly key: string
}

export interface StepOptions {
  readonly retry?: RetryPolicy
}

export interface RetryPolicy {
  /** The number of retries after the first try. */
  readonly times: number
  /** The delay before the first retry. Each further delay is multiplied by `factor`, up to `maxBackoffMs`. */
  readonly backoffMs?: number
  readonly factor?: number
  readonly maxBackoffMs?: number
  /** Which errors are retried; all by default. */
  readonly when?: (error: unknown) => boolean
}

export interface WorkflowOptions {
  /** The default retry policy of steps. */
  readonly retry?: RetryPolicy
  /** How long a waiting function stays in memory before it is parked. */
  readonly parkAfterMs?: number
  /** How long a running step may go on when the program closes or the process is cancelled, so that its result is kept. */
  readonly graceMs?: number
}

/** A registration without the fields that the parent sets. The input of a tool or a durable function may be any `Value`. */
export type ChildOfWorkflow = WithValueInput<ChildToRegister>

/** A `ChildOfWorkflow` with its input encoded. */
export type ChildToRegister = DistributiveOmit<InputOf<'spawn'>, 'pid' | 'parent' | 'idempotencyKey'>

/** A child as its parent's events name it. */
export type Child = { readonly pid: Pid; readonly kind: string; readonly label: string }

/** How a child ended, with its result decoded. */
export type ChildOutcome = Omit<Outcome, 'result'> & { readonly result: Value }

type DistributiveOmit<Union, Keys extends PropertyKey> = Union extends unknown ? Omit<Union, Keys> : never
