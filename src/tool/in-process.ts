import type { Amounts } from '../core/allowance/amounts.ts'
import {
  type QuestionAnswer,
  type QuestionInput,
  questionAnswer,
  questionProcess,
} from '../core/approval/question.ts'
import type { Variables } from '../core/environment/secrets.ts'
import { RefusedError } from '../core/errors.ts'
import type { Json } from '../core/json/json.ts'
import { checkOptions } from '../core/known-options.ts'
import {
  messageWait,
  type OutgoingMessage,
  outgoingMessage,
  type ReceiveAnswer,
  type ReceiveOptions,
  receiveAnswer,
} from '../core/message/context-messages.ts'
import type { WaitRef } from '../core/process/intent.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { checkSignalName } from '../core/process/signal-name.ts'
import { startSpecOf } from '../core/process/spec.ts'
import type { WaitOn } from '../core/process/wait.ts'
import { isWaitTime, noWaitTime } from '../core/process/wait-time.ts'
import { decode } from '../core/value/decode.ts'
import { encode } from '../core/value/encode.ts'
import { encodeInput, type WithValueInput } from '../core/value/encode-input.ts'
import { unstorable } from '../core/value/stored-value.ts'
import type { Value } from '../core/value/value.ts'
import type { Executor, Work } from '../kernel/executor.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { OwnIntent } from '../kernel/perform-as.ts'
import { sendMessage } from '../kernel/send-message.ts'
import type { InputOf } from '../verbs/reeve.ts'

/** A function of the embedding program that runs as a `tool` process. Its return value is the result: JSON, or a `Value` that is encoded. */
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
export type ChildRequest = WithValueInput<ChildToRegister>

type ChildToRegister = DistributiveOmit<InputOf<'spawn'>, 'pid' | 'parent' | 'idempotencyKey'>

export type SignalAnswer = { readonly type: 'signal'; readonly value: Json } | { readonly type: 'timed_out' }

/** Spawns a child of the process of `work`, through the same verb and checks as any other spawn. */
export type SpawnAs = (work: Work, request: InputOf<'spawn'>) => Promise<ProcessRecord>

/** The variables that a process runs with. Throws if a secret is not set. */
export type VariablesOf = (record: ProcessRecord, kernel: Kernel, signal: AbortSignal) => Promise<Variables>

/** Runs `tool` processes with functions of this program. */
export function inProcess(
  tools: Readonly<Record<string, ToolHandler>>,
  spawnAs: SpawnAs,
  variablesOf: VariablesOf,
): Executor {
  return {
    serves: [{ kind: 'tool', targets: Object.keys(tools) }],
    async run(work, kernel) {
      const handler = tools[String(work.record.spec['tool'])]
      if (handler === undefined)
        throw new Error(`This kernel has no tool ${String(work.record.spec['tool'])}`)
      const env = await variablesOf(work.record, kernel, work.signal)
      const result = (await handler(new Context(work, kernel, spawnAs, env))) ?? null
      const encoded = encode(result)
      if (encoded.type === 'encoded') return { status: 'completed', result: encoded.json }
      const { code, message } = unstorable("The tool's result", encoded.why)
      return { status: 'failed', reason: message, result: { error: message, code } }
    },
  }
}

/** Its methods are fields, so that a handler may destructure them, as in `({ input, append }) => …`. */
class Context implements ToolContext {
  readonly pid: Pid
  readonly input: Value
  readonly attempt: number
  readonly record: ProcessRecord
  readonly env: Variables
  readonly #work: Work
  readonly #kernel: Kernel
  readonly #spawnAs: SpawnAs
  /** How many waits of each name this attempt has entered: the same code counts the same in every attempt. */
  readonly #ordinals = new Map<string, number>()
  #children = 0
  #charges = 0
  #messages = 0

  constructor(work: Work, kernel: Kernel, spawnAs: SpawnAs, env: Variables) {
    this.env = env
    this.#spawnAs = spawnAs
    this.#work = work
    this.#kernel = kernel
    this.record = work.record
    this.pid = work.record.pid
    this.input = decode(startSpecOf(work.record)['input'] ?? null)
    this.attempt = work.record.attempts
  }

  get abortSignal(): AbortSignal {
    return this.#work.signal
  }

  readonly append = async (
    type: string,
    given: Value,
    options: { readonly replayKey?: string } = {},
  ): Promise<void> => {
    checkOptions('append', options, ['replayKey'])
    const payload = encode(given)
    if (payload.type === 'unstorable')
      throw new RefusedError({
        ...unstorable(`The payload of ${type}`, payload.why),
        code: 'payload_mismatch',
      })
    await this.#perform({
      type: 'append',
      event: type,
      payload: payload.json,
      replayKey: options.replayKey ?? null,
    })
  }

  readonly spawn = async (request: ChildRequest): Promise<ProcessRecord> => {
    this.#children += 1
    return this.#spawnAs(this.#work, {
      ...encodeInput<ChildToRegister>(request),
      parent: this.pid,
      idempotencyKey: `child:${this.#children}`,
    })
  }

  readonly wait = async (pid: Pid): Promise<ProcessRecord> => {
    const wait = this.#next('child', pid)
    const entered = await this.#perform({ type: 'enter_wait', wait, until: null })
    const waited = await this.#kernel.waits.forEnd(pid, { signal: this.abortSignal, waiter: this.#work })
    if (waited.type !== 'done') throw this.abortSignal.reason
    if (entered.type !== 'replayed') {
      await this.#perform({ type: 'leave_wait', wait, how: 'ended', value: null })
    }
    return waited.value.record
  }

  readonly ask = async (question: QuestionInput): Promise<QuestionAnswer> => {
    const { pid } = await this.spawn(questionProcess(question))
    const { outcome } = await this.wait(pid)
    if (outcome === null) throw new Error(`${pid} has ended without an outcome`)
    return questionAnswer(outcome)
  }

  readonly waitForSignal = async (
    name: string,
    options: { readonly timeoutMs?: number } = {},
  ): Promise<SignalAnswer> => {
    checkOptions('waitForSignal', options, ['timeoutMs'])
    const until = options.timeoutMs === undefined ? null : this.#after(options.timeoutMs)
    const answered = await this.#kernel.waits.forAnswer(this.#work, this.#next('signal', name), until)
    return answered.type === 'timed_out' ? answered : { type: 'signal', value: answered.value }
  }

  readonly sendMessage = async (given: OutgoingMessage): Promise<void> => {
    const { to, message } = outgoingMessage(given, this.record.parent)
    this.#messages += 1
    await sendMessage(this.#kernel, {
      actor: `process:${this.pid}`,
      to,
      message,
      key: `message:${this.#messages}`,
    })
  }

  readonly receive = async (options: ReceiveOptions = {}): Promise<ReceiveAnswer> => {
    const { name, filter } = messageWait(options)
    const until = options.timeoutMs === undefined ? null : this.#after(options.timeoutMs)
    const wait = { ...this.#next('message', name), filter }
    const answered = await this.#kernel.waits.forAnswer(this.#work, wait, until)
    return answered.type === 'timed_out' ? answered : receiveAnswer(answered.value)
  }

  readonly keyFor = async (name: string): Promise<string> => {
    checkSignalName(name)
    return this.#kernel.waits.keyOf(this.pid, {
      on: 'signal',
      name,
      ordinal: this.#ordinal('signal', name) + 1,
    })
  }

  readonly sleep = async (ms: number): Promise<void> => {
    const until = this.#after(ms)
    await this.#kernel.waits.forAnswer(this.#work, this.#next('timer', 'sleep'), until)
  }

  readonly charge = async (amounts: Amounts, options: { readonly done?: boolean } = {}): Promise<void> => {
    checkOptions('charge', options, ['done'])
    const { done = false } = options
    this.#charges += 1
    const replayKey = `charge:${this.#charges}`
    await this.#kernel.charge({ pid: this.pid, amounts, done, actor: `process:${this.pid}`, replayKey })
  }

  readonly untilResumed = async (): Promise<void> => {
    const row = await this.#kernel.edges.store.ask({ ask: 'process', pid: this.pid })
    if (row === null || row.record.status !== 'paused') return
    await this.#kernel.waits.forEvent(
      this.pid,
      row.record.revision,
      (event) => event.type === 'resumed' || event.type === 'stop_requested',
      { signal: this.abortSignal, waiter: this.#work },
    )
    this.abortSignal.throwIfAborted()
  }

  #after(ms: number): number {
    if (!isWaitTime(ms)) throw new RefusedError(noWaitTime(ms))
    return this.#kernel.edges.clock.now() + Math.ceil(ms)
  }

  #next(on: WaitOn, name: string): WaitRef {
    if (on === 'signal') checkSignalName(name)
    const ordinal = this.#ordinal(on, name) + 1
    this.#ordinals.set(`${on}:${name}`, ordinal)
    return { on, name, ordinal }
  }

  #ordinal(on: WaitOn, name: string): number {
    return this.#ordinals.get(`${on}:${name}`) ?? 0
  }

  #perform(intent: OwnIntent) {
    return this.#kernel.performAs(this.#work, intent)
  }
}

type DistributiveOmit<Union, Keys extends PropertyKey> = Union extends unknown ? Omit<Union, Keys> : never
