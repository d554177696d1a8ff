import type { Amounts } from '../core/allowance/amounts.ts'
import {
  type QuestionAnswer,
  type QuestionInput,
  questionAnswer,
  questionProcess,
} from '../core/approval/question.ts'
import type { Variables } from '../core/environment/secrets.ts'
import { RefusedError } from '../core/errors.ts'
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
import { encodeInput } from '../core/value/encode-input.ts'
import { unstorable } from '../core/value/stored-value.ts'
import type { Value } from '../core/value/value.ts'
import type { ChildOfTool, ChildRequest, SignalAnswer, ToolContext } from '../verbs/tool-function.ts'
import type { ToolLedger } from './ledger.ts'

/** The context of a handler. Its methods are fields, so that a handler may destructure them, as in `({ input, append }) => …`. */
export class HandlerContext implements ToolContext {
  readonly pid: Pid
  readonly input: Value
  readonly attempt: number
  readonly record: ProcessRecord
  readonly env: Variables
  readonly #ledger: ToolLedger
  /** How many waits of each name this attempt has entered: the same code counts the same in every attempt. */
  #ordinals: Map<string, number> | undefined
  #children = 0
  #charges = 0
  #messages = 0

  constructor(ledger: ToolLedger, env: Variables) {
    const { record } = ledger
    this.#ledger = ledger
    this.env = env
    this.record = record
    this.pid = record.pid
    this.input = decode(startSpecOf(record)['input'] ?? null)
    this.attempt = record.attempts
  }

  get abortSignal(): AbortSignal {
    return this.#ledger.signal
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
    await this.#ledger.write({
      type: 'append',
      event: type,
      payload: payload.json,
      replayKey: options.replayKey ?? null,
    })
  }

  readonly spawn = async (request: ChildRequest): Promise<ProcessRecord> => {
    this.#children += 1
    return this.#ledger.spawn(encodeInput<ChildOfTool>(request), this.#children)
  }

  readonly wait = async (pid: Pid): Promise<ProcessRecord> => {
    const wait = this.#next('child', pid)
    const entered = await this.#ledger.write({ type: 'enter_wait', wait, until: null })
    const record = await this.#ledger.waitForEnd(pid)
    if (!entered.isReplayed) await this.#ledger.write({ type: 'leave_wait', wait, how: 'ended', value: null })
    return record
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
    const answered = await this.#ledger.waitForAnswer(this.#next('signal', name), until)
    return answered.type === 'timed_out' ? answered : { type: 'signal', value: answered.value }
  }

  readonly sendMessage = async (given: OutgoingMessage): Promise<void> => {
    const message = outgoingMessage(given, this.record.parent)
    this.#messages += 1
    await this.#ledger.sendMessage({ ...message, key: `message:${this.#messages}` })
  }

  readonly receive = async (options: ReceiveOptions = {}): Promise<ReceiveAnswer> => {
    const { name, filter } = messageWait(options)
    const until = options.timeoutMs === undefined ? null : this.#after(options.timeoutMs)
    const wait = { ...this.#next('message', name), filter }
    const answered = await this.#ledger.waitForAnswer(wait, until)
    return answered.type === 'timed_out' ? answered : receiveAnswer(answered.value)
  }

  readonly keyFor = async (name: string): Promise<string> => {
    checkSignalName(name)
    return this.#ledger.keyFor({ on: 'signal', name, ordinal: this.#ordinal('signal', name) + 1 })
  }

  readonly sleep = async (ms: number): Promise<void> => {
    const until = this.#after(ms)
    await this.#ledger.waitForAnswer(this.#next('timer', 'sleep'), until)
  }

  readonly charge = async (amounts: Amounts, options: { readonly done?: boolean } = {}): Promise<void> => {
    checkOptions('charge', options, ['done'])
    const { done = false } = options
    this.#charges += 1
    await this.#ledger.charge({ amounts, done, replayKey: `charge:${this.#charges}` })
  }

  readonly untilResumed = (): Promise<void> => this.#ledger.untilResumed()

  #after(ms: number): number {
    if (!isWaitTime(ms)) throw new RefusedError(noWaitTime(ms))
    return this.#ledger.now() + Math.ceil(ms)
  }

  #next(on: WaitOn, name: string): WaitRef {
    if (on === 'signal') checkSignalName(name)
    const ordinal = this.#ordinal(on, name) + 1
    this.#ordinals ??= new Map()
    this.#ordinals.set(`${on}:${name}`, ordinal)
    return { on, name, ordinal }
  }

  #ordinal(on: WaitOn, name: string): number {
    return this.#ordinals?.get(`${on}:${name}`) ?? 0
  }
}
