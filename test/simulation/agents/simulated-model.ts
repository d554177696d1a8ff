import type { CallAnswer, CallFailure, Usage } from '../../../src/core/model/answer.ts'
import type { AssistantPart, ModelRequest, ToolCall } from '../../../src/core/model/prompt.ts'
import type { CallOptions, Model } from '../../../src/model/model.ts'
import { abortedOr } from './aborted-or.ts'
import { TOOLS, type ToolHost } from './simulated-tools.ts'

/** Each kind of answer with its weight. At rest, only the first one is given. */
const ANSWERS = [
  ['text', 5],
  ['calls', 8],
  ['empty', 0.3],
  ['malformed', 0.4],
  ['cut', 0.7],
  ['overflow', 0.3],
  ['refused', 0.3],
  ['busy', 1],
  ['rejected', 0.3],
  ['slow', 0.7],
  ['die', 0.5],
] as const
const MAX_SLOW_MS = 5_000

export interface SimulatedModelOptions {
  readonly host: ToolHost
  /** Called with each request, before it is answered. */
  readonly asked: (request: ModelRequest) => void
  /** An id of a tool call that no other answer has. */
  readonly newCallId: () => string
}

/** A model that answers at random, in turns of the simulator. */
export function simulatedModel(name: string, given: SimulatedModelOptions): Model {
  const { host, asked } = given
  return {
    provider: 'simulated',
    model: name,
    async call(request, options = {}) {
      const { abortSignal = new AbortController().signal } = options
      // A check of a goal, and a summary: neither is about the prompt of the session.
      if (request.tools.length === 0) return summaryOf(host, abortSignal)
      asked(request)
      try {
        return await answer(given, { ...options, abortSignal })
      } catch (error) {
        if (!abortSignal.aborted) throw error
        return { type: 'aborted', parts: [] }
      }
    },
  }
}

async function answer(
  { host, newCallId }: SimulatedModelOptions,
  { abortSignal, onFragment }: CallOptions & { readonly abortSignal: AbortSignal },
): Promise<CallAnswer> {
  const { random, faulty, counts } = host.stage
  const [what] = faulty ? random.weighted(ANSWERS, ([, weight]) => weight) : ANSWERS[0]
  const think = () => abortedOr(abortSignal, host.turn())
  for (let turns = random.between(0, 2); turns > 0; turns--) await think()
  if (what === 'slow') {
    const ms = random.between(1, MAX_SLOW_MS)
    await abortedOr(abortSignal, new Promise<void>((resolve) => host.clock.after(ms, resolve)))
  }
  if (what === 'busy') return { type: 'failed', failure: failureOf('rate_limited') }
  if (what === 'rejected') return { type: 'failed', failure: failureOf('key_rejected') }
  if (what === 'overflow') return { type: 'overflow', message: 'too long' }
  onFragment?.({ type: 'begun' })
  onFragment?.({ type: 'text', part: 0, text: 'Well' })
  for (let turns = random.between(0, 2); turns > 0; turns--) await think()
  const usage = usageOf(host)
  const text = { type: 'text', text: random.chance(0.7) || !faulty ? '{"ok":true}' : 'Well.' } as const
  switch (what) {
    case 'calls':
      return answered([...(random.chance(0.5) ? [text] : []), ...callsOf(host, newCallId)], usage)
    case 'malformed':
      return answered([malformed(newCallId())], usage)
    case 'empty':
      return answered([], usage)
    case 'cut':
      return { type: 'cut', parts: random.chance(0.5) ? [text] : [], usage, failure: failureOf('network') }
    case 'refused':
      return { type: 'refused', parts: [], usage, message: 'The filter says no.' }
    case 'die':
      counts.fault('a model call dies with its kernel')
      host.die('in a model call')
      return new Promise(() => {})
    default:
      return answered([text], usage)
  }
}

async function summaryOf(host: ToolHost, signal: AbortSignal): Promise<CallAnswer> {
  const { random, faulty } = host.stage
  try {
    await abortedOr(signal, host.turn())
  } catch {
    return { type: 'aborted', parts: [] }
  }
  if (faulty && random.chance(0.2)) return { type: 'failed', failure: failureOf('server_error') }
  const text = !faulty || random.chance(0.4) ? 'yes' : 'no'
  return answered([{ type: 'text', text }], usageOf(host))
}

function answered(parts: readonly AssistantPart[], usage: Usage): Extract<CallAnswer, { type: 'answered' }> {
  return { type: 'answered', parts, finish: 'stop', usage, warnings: [] }
}

function callsOf({ stage: { random } }: ToolHost, newCallId: () => string): readonly ToolCall[] {
  return Array.from({ length: random.between(1, 3) }, () => ({
    type: 'tool_call',
    callId: newCallId(),
    tool: random.chance(0.95) ? random.pick(TOOLS) : 'unknown',
    input: random.chance(0.95) ? { n: random.between(1, 3) } : {},
  }))
}

function malformed(callId: string): ToolCall {
  const problem = { type: 'malformed', message: 'no JSON', text: '{' } as const
  return { type: 'tool_call', callId, tool: 'note', input: {}, problem }
}

function usageOf({ stage: { random } }: ToolHost): Usage {
  return {
    inputTokens: random.between(1, 60),
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: random.between(1, 20),
    reasoningTokens: 0,
    isEstimate: false,
  }
}

function failureOf(kind: CallFailure['kind']): CallFailure {
  return { kind, message: `simulated ${kind}.`, remedy: 'Try again.' }
}
