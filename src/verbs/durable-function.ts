import type { Amounts } from '../core/allowance/amounts.ts'
import type { Variables } from '../core/environment/secrets.ts'
import type { Json } from '../core/json/json.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Outcome } from '../core/process/record.ts'
import type { WithValueInput } from '../core/value/encode-input.ts'
import type { Value } from '../core/value/value.ts'
import type { InputOf } from './reeve.ts'

/**
 * A durable function of the embedding program, run as a `workflow` process. It may be begun several times, after a
 * crash or a long wait, and comes to the same place each time: what its context did before is not done again. So what
 * lies between two calls of the context must not depend on time, chance or the outside world; those belong in steps.
 */
export type WorkflowFunction = {
  // A method, so that a function may say more exactly what its input is.
  run(context: WorkflowContext, input: Value): unknown
}['run']

export interface WorkflowContext {
  readonly pid: Pid
  /** Decoded: what `encodeValue` or the `spawn` of a context was given. */
  readonly input: Value
  /** The variables of its environment, with the values of secrets; empty where it has none. */
  readonly env: Variables
  /** Aborted when the process is to stop, or somebody else has taken it over. */
  readonly abortSignal: AbortSignal
  /**
   * Does something once, and keeps its result: JSON, `Date`, `Map`, `Set`, `Uint8Array`, `BigInt`, errors. If it was cut off by
   * a crash it is done again.
   */
  step<Result>(
    name: string,
    run: (step: StepInfo) => Promise<Result> | Result,
    options?: StepOptions,
  ): Promise<Result>
  /** Sleeps until a time that no restart changes. */
  sleep(ms: number): Promise<void>
  /** Takes the next signal of this name, sent before or after. Undefined when the time is up. */
  waitForSignal<Value extends Json = Json>(name: string): Promise<Value>
  waitForSignal<Value extends Json = Json>(
    name: string,
    options: { readonly timeoutMs?: number },
  ): Promise<Value | undefined>
  /** A one-shot key that answers the next wait for this signal from outside, whoever has it. */
  keyFor(name: string): Promise<string>
  /** Starts a child, once. */
  spawn(request: ChildOfWorkflow): Promise<Child>
  /** Waits for a child to end. */
  wait(child: Child | Pid): Promise<ChildOutcome>
  /**
   * Charges this process, once: before the work, so that too much is refused; or after it, with `done`. Between steps it is one
   * of them; inside a step it counts once for each try, also when that is begun again after a crash.
   */
  charge(amounts: Amounts, options?: { readonly done?: boolean }): Promise<void>
  /** The time of the last thing that happened here: the same in every attempt. */
  now(): number
  /** Between 0 and 1, the same in every attempt. */
  random(): number
  /** A random UUID, the same in every attempt. */
  uuid(): string
}

/** What a step is told. */
export interface StepInfo {
  /** 1 at first; more when it failed before. */
  readonly attempt: number
  readonly abortSignal: AbortSignal
  /** The same whenever this step is tried: for services that take an idempotency key. */
  readonly key: string
}

export interface StepOptions {
  readonly retry?: RetryPolicy
}

export interface RetryPolicy {
  /** How often it is tried again. */
  readonly times: number
  /** Before the first of these; each time it is multiplied by `factor`, up to `maxBackoffMs`. */
  readonly backoffMs?: number
  readonly factor?: number
  readonly maxBackoffMs?: number
  /** Which errors are worth another try; all, unless it is said. */
  readonly when?: (error: unknown) => boolean
}

export interface WorkflowOptions {
  /** For steps that have no policy of their own. */
  readonly retry?: RetryPolicy
  /** How long it waits in memory before it leaves it. */
  readonly parkAfterMs?: number
  /** How long a step that is under way may go on when the program closes or the process is cancelled, so that its end is kept. */
  readonly graceMs?: number
}

/** A registration without what the parent settles by itself. The input of a tool or a durable function may be any `Value`. */
export type ChildOfWorkflow = WithValueInput<ChildToRegister>

/** The same, with its input encoded. */
export type ChildToRegister = DistributiveOmit<InputOf<'spawn'>, 'pid' | 'parent' | 'idempotencyKey'>

/** A child as its parent's log names it. */
export type Child = { readonly pid: Pid; readonly kind: string; readonly label: string }

/** How a child ended, with its result decoded. */
export type ChildOutcome = Omit<Outcome, 'result'> & { readonly result: Value }

type DistributiveOmit<Union, Keys extends PropertyKey> = Union extends unknown ? Omit<Union, Keys> : never
