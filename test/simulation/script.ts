import type { Json } from '../../src/core/json/json.ts'
import type { StoredEvent } from '../../src/core/process/event.ts'
import { waitLeftKey } from '../../src/core/process/intent.ts'
import type { ChildRequest, ToolContext } from '../../src/verbs/tool-function.ts'
import { type Ledger, same } from './ledger.ts'
import { asJson, stepsFrom } from './payload.ts'
import type { Stage } from './stage.ts'

/** One step of a simulated tool. A `stubborn` tool goes on when the step fails, and when it is asked to stop. */
export type Step = { readonly stubborn?: boolean } & (
  | { readonly do: 'turn' }
  | { readonly do: 'append'; readonly type: string; readonly payload: Json; readonly replayKey?: string }
  | { readonly do: 'signal'; readonly name: string; readonly timeoutMs?: number }
  | { readonly do: 'message' }
  | { readonly do: 'receive'; readonly channel?: string; readonly timeoutMs?: number }
  | { readonly do: 'key'; readonly name: string }
  | { readonly do: 'sleep'; readonly ms: number }
  | { readonly do: 'spawn'; readonly request: ChildRequest }
  | { readonly do: 'wait' }
  | { readonly do: 'until_resumed' }
  | { readonly do: 'throw' }
  | { readonly do: 'hang' }
  | { readonly do: 'ignore_cancel' }
  | { readonly do: 'die' }
)

/** The services of the kernel that a script uses. */
export interface ScriptHost {
  readonly stage: Stage
  readonly ledger: Ledger
  /** One-shot keys that were made, for clients to answer with. */
  readonly keys: string[]
  turn(): Promise<void>
  die(how: string): void
}

/** Runs the steps of its input: the same in every attempt, as durable code must. */
export async function runScript(context: ToolContext, around: ScriptHost): Promise<Json> {
  const ordinals = new Map<string, number>()
  const children: string[] = []
  const steps = stepsFrom<Step>(context.input)
  for (const step of steps) {
    try {
      await perform(step, context, around, children, ordinals)
    } catch (error) {
      if (step.stubborn !== true) throw error
    }
  }
  return { steps: steps.length }
}

async function perform(
  step: Step,
  context: ToolContext,
  around: ScriptHost,
  children: string[],
  ordinals: Map<string, number>,
): Promise<void> {
  switch (step.do) {
    case 'turn':
      return around.turn()
    case 'append':
      return context.append(
        step.type,
        step.payload,
        step.replayKey === undefined ? {} : { replayKey: step.replayKey },
      )
    case 'signal': {
      const ordinal = (ordinals.get(step.name) ?? 0) + 1
      ordinals.set(step.name, ordinal)
      const answer = await context.waitForSignal(
        step.name,
        step.timeoutMs === undefined ? {} : { timeoutMs: step.timeoutMs },
      )
      return checkAnswer(around, context.pid, { on: 'signal', name: step.name, ordinal }, answer)
    }
    case 'message':
      return context.sendMessage({
        to: context.record.parent === null ? 'human:host' : 'parent',
        value: 'said',
      })
    case 'receive': {
      const { channel, timeoutMs } = step
      const name = channel ?? 'any'
      const ordinal = (ordinals.get(`message ${name}`) ?? 0) + 1
      ordinals.set(`message ${name}`, ordinal)
      const answer = await context.receive({
        ...(channel === undefined ? {} : { channel }),
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
      })
      const told =
        answer.type === 'message' ? { type: 'signal' as const, value: asJson(answer.value) } : answer
      return checkAnswer(around, context.pid, { on: 'message', name, ordinal }, told)
    }
    case 'key':
      around.keys.push(await context.keyFor(step.name))
      return
    case 'sleep':
      return context.sleep(step.ms)
    case 'spawn':
      children.push((await context.spawn(step.request)).pid)
      return
    case 'wait': {
      const child = children.at(-1)
      if (child !== undefined) await context.wait(child)
      return
    }
    case 'until_resumed':
      return context.untilResumed()
    case 'throw':
      throw new Error('The tool broke')
    case 'hang':
      return untilAborted(context.abortSignal)
    case 'ignore_cancel':
      return new Promise(() => {})
    case 'die':
      if (!around.stage.faulty) return
      around.stage.counts.fault('an executor kills its kernel')
      around.die('by its executor')
      return new Promise(() => {})
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason as Error)
    signal.addEventListener('abort', () => reject(signal.reason as Error))
  })
}

/** Every attempt that reaches a wait must get the answer in the log. */
function checkAnswer(
  { stage, ledger }: ScriptHost,
  pid: string,
  wait: Parameters<typeof waitLeftKey>[0],
  answer: { readonly type: 'timed_out' } | { readonly type: 'signal'; readonly value: Json },
): void {
  const left = ledger.eventByKey(pid, waitLeftKey(wait))
  if (left === undefined) {
    stage.violated(
      'a wait is answered from the log',
      `${pid} left ${wait.name} ${wait.ordinal} without an event`,
    )
    return
  }
  const payload = left.payload as { how: string; signalSeq: number | null; messageSeq?: number; value: Json }
  const expected =
    payload.how === 'timed_out'
      ? { type: 'timed_out' }
      : { type: 'signal', value: signalledValue(ledger.entry(pid)?.events ?? [], payload) }
  if (!same(answer, expected))
    stage.violated(
      'a wait is answered from the log',
      `${pid} was told ${JSON.stringify(answer)} for ${wait.name} ${wait.ordinal}, the log says ${JSON.stringify(expected)}`,
    )
}

function signalledValue(
  events: readonly StoredEvent[],
  left: { how: string; signalSeq: number | null; messageSeq?: number; value: Json },
): Json {
  if (left.how !== 'signal' && left.how !== 'message') return left.value
  const from = left.how === 'message' ? left.messageSeq : left.signalSeq
  const signal = events.find(({ seq }) => seq === from)
  return (signal?.payload as { value: Json } | undefined)?.value ?? null
}
