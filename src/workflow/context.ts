import { createHmac, randomUUID } from 'node:crypto'
import { questionAnswer, questionProcess } from '../core/approval/question.ts'
import type { Variables } from '../core/environment/secrets.ts'
import { RefusedError } from '../core/errors.ts'
import type { Json } from '../core/json/json.ts'
import { checkOptions } from '../core/known-options.ts'
import { messageWait, outgoingMessage, receiveAnswer } from '../core/message/context-messages.ts'
import type { MessageFilter } from '../core/message/message.ts'
import type { WaitRef } from '../core/process/intent.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Outcome } from '../core/process/record.ts'
import { checkSignalName } from '../core/process/signal-name.ts'
import { startSpecOf } from '../core/process/spec.ts'
import type { WaitOn } from '../core/process/wait.ts'
import { isWaitTime, noWaitTime } from '../core/process/wait-time.ts'
import { refusal } from '../core/refusal.ts'
import { decode } from '../core/value/decode.ts'
import { encodeInput } from '../core/value/encode-input.ts'
import type { Child, ChildToRegister, WorkflowContext } from '../verbs/workflow-function.ts'
import { type CallPerformer, stepKindOf } from './call-performer.ts'
import type { Calls } from './calls.ts'
import { insideStep } from './inside-step.ts'
import type { Ledger } from './ledger.ts'
import { checkRetry } from './retry.ts'

/** The context of a workflow. Fields, not methods, so that code can destructure it: `({ step, sleep }) => …`. */
export function contextOf(
  ledger: Ledger,
  calls: Calls,
  performer: CallPerformer,
  { seed, env }: { readonly seed: string; readonly env: Variables },
): WorkflowContext {
  const { record, signal, clock } = ledger
  const ordinals = new Map<string, number>()
  const ordinalOf = (on: WaitOn, name: string) => ordinals.get(`${on}:${name}`) ?? 0
  const nextWait = (on: WaitOn, name: string): Omit<WaitRef, 'stepIndex'> => {
    const ordinal = ordinalOf(on, name) + 1
    ordinals.set(`${on}:${name}`, ordinal)
    return { on, name, ordinal }
  }
  const nextRandom = seededRandom(seed)
  const refuseInsideStep = (call: string) => {
    const step = insideStep.getStore()
    if (step !== undefined) throw new RefusedError(calledInsideStep(step.name, call))
  }
  const wait = (on: WaitOn, name: string, timeoutMs: number | null, filter?: MessageFilter) => {
    const ref = { ...nextWait(on, name), ...(filter === undefined ? {} : { filter }) }
    return calls.make(stepKindOf(on), name, (stepIndex) =>
      performer.wait(stepIndex, { ...ref, stepIndex }, timeoutMs),
    )
  }

  return {
    pid: record.pid,
    input: decode(startSpecOf(record)['input'] ?? null),
    env,
    abortSignal: signal,
    step: <Result>(
      name: string,
      run: Parameters<WorkflowContext['step']>[1],
      options: Parameters<WorkflowContext['step']>[2] = {},
    ) =>
      withHandledRejection(async () => {
        refuseInsideStep(`step ${name}`)
        checkStepName(name)
        checkOptions(`The step ${name}`, options, ['retry'])
        checkRetry(options.retry)
        return (await calls.make('step', name, (stepIndex) =>
          performer.step(stepIndex, name, run, options),
        )) as Result
      }),
    sleep: (ms) =>
      withHandledRejection(async () => {
        refuseInsideStep('sleep')
        await wait('timer', 'sleep', wholeMs(ms))
      }),
    waitForSignal: <Value extends Json>(name: string, options: { readonly timeoutMs?: number } = {}) =>
      withHandledRejection(async () => {
        refuseInsideStep(`waitForSignal ${name}`)
        checkSignalName(name)
        checkOptions(`The signal ${name}`, options, ['timeoutMs'])
        const { timeoutMs } = options
        return (await wait('signal', name, timeoutMs === undefined ? null : wholeMs(timeoutMs))) as Value
      }),
    sendMessage: (given) =>
      withHandledRejection(async () => {
        refuseInsideStep('sendMessage')
        const message = outgoingMessage(given, record.parent)
        await calls.make('step', 'sendMessage', (stepIndex) => performer.sendMessage(stepIndex, message))
      }),
    receive: (options = {}) =>
      withHandledRejection(async () => {
        refuseInsideStep('receive')
        const { name, filter } = messageWait(options)
        const { timeoutMs } = options
        const time = timeoutMs === undefined ? null : wholeMs(timeoutMs)
        const received = (await wait('message', name, time, filter)) as Json | undefined
        return received === undefined ? { type: 'timed_out' } : receiveAnswer(received)
      }),
    async keyFor(name) {
      checkSignalName(name)
      return ledger.keyFor({ on: 'signal', name, ordinal: ordinalOf('signal', name) + 1 })
    },
    spawn: (request) =>
      withHandledRejection(async () => {
        refuseInsideStep('spawn')
        const child = encodeInput<ChildToRegister>(request)
        return (await calls.make('spawn', child.kind, (stepIndex) =>
          performer.spawn(stepIndex, child),
        )) as Child
      }),
    wait: (child: Child | Pid) =>
      withHandledRejection(async () => {
        refuseInsideStep('wait')
        const pid = typeof child === 'string' ? child : child.pid
        const outcome = (await wait('child', pid, null)) as Outcome
        return { ...outcome, result: decode(outcome.result) }
      }),
    ask: (question) =>
      withHandledRejection(async () => {
        refuseInsideStep('ask')
        const child = questionProcess(question)
        const { pid } = (await calls.make('spawn', child.kind, (stepIndex) =>
          performer.spawn(stepIndex, child),
        )) as Child
        return questionAnswer((await wait('child', pid, null)) as Outcome)
      }),
    charge: (amounts, options = {}) =>
      withHandledRejection(async () => {
        checkOptions('charge', options, ['done'])
        const { done = false } = options
        const charge = (key: string) => ledger.charge({ amounts, done, replayKey: `charge:${key}` })
        const inside = insideStep.getStore()
        if (inside !== undefined) {
          inside.charges += 1
          return charge(`${inside.key}:${inside.charges}`)
        }
        const once = { retry: { times: 0 } }
        await calls.make('step', 'charge', (stepIndex) =>
          performer.step(stepIndex, 'charge', () => charge(String(stepIndex)), once),
        )
      }),
    now: () => (insideStep.getStore() === undefined ? calls.time : clock.now()),
    random: () =>
      insideStep.getStore() === undefined ? nextRandom().readUInt32BE() / 2 ** 32 : Math.random(),
    uuid: () => (insideStep.getStore() === undefined ? uuidFrom(nextRandom()) : randomUUID()),
  }
}

/** A call that the code no longer awaits, as after a race, may fail. The log has the error; the program must not end. */
function withHandledRejection<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  const answer = call()
  answer.catch(() => {})
  return answer
}

/** Random bytes that are the same in every attempt, and that cannot be guessed from outside. */
function seededRandom(seed: string): () => Buffer {
  let count = 0
  return () => {
    count += 1
    return createHmac('sha256', seed).update(String(count)).digest()
  }
}

function uuidFrom(bytes: Buffer): string {
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  const hex = bytes.toString('hex', 0, 16)
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/** A replay does not run the step, so it would miss the calls inside. */
function calledInsideStep(step: string, call: string) {
  return refusal(
    'invalid_input',
    `${call} was called inside the step ${step}.`,
    'Call the context between steps, not inside one.',
  )
}

const MAX_NAME_CHARS = 200

function checkStepName(name: unknown): void {
  if (typeof name === 'string' && name.length > 0 && name.length <= MAX_NAME_CHARS) return
  throw new RefusedError(
    refusal(
      'invalid_input',
      `A step needs a name of 1 to ${MAX_NAME_CHARS} characters.`,
      'Name the step after its work; two steps may have the same name.',
    ),
  )
}

/** Stores and the wire take whole milliseconds. */
function wholeMs(ms: unknown): number {
  if (isWaitTime(ms)) return Math.ceil(ms)
  throw new RefusedError(noWaitTime(ms))
}
