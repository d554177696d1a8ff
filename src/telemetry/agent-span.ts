import type { AgentEvent } from '../core/agent/event.ts'
import type { ToolCallRef, TurnReason } from '../core/agent/state.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { attributes, nanos } from './otlp.ts'
import { type Span, STATUS_ERROR, STATUS_UNSET } from './span.ts'
import { callSpanId, processSpanId, toolSpanId, turnSpanId } from './span-ids.ts'
import { toolAttributes } from './tool-call.ts'

export type PayloadOf<Type extends AgentEvent['type']> = Extract<AgentEvent, { type: Type }>['payload']

/** The agent and the trace of its tree. */
export interface TracedAgent {
  readonly record: ProcessRecord
  readonly traceId: string
}

/** The entries of one turn that make its span. */
export interface TurnEntries {
  readonly begun: { readonly at: number; readonly payload: PayloadOf<'turn_begun'> }
  readonly ended: { readonly at: number; readonly payload: PayloadOf<'turn_ended'> }
  readonly inputTokens: number
  readonly outputTokens: number
}

/** The entries of one model call that make its span. */
export interface CallEntries {
  readonly turn: number
  readonly call: number
  readonly model: string
  readonly purpose: string
  readonly beganAt: number
  readonly endedAt: number
  readonly retries: number
  readonly cut?: string
  readonly usage?: PayloadOf<'model_used'>
}

/** A tool call without a process: Reeve answered it without running anything. */
export interface ToolEntries extends ToolCallRef {
  readonly tool: string
  readonly beganAt: number
  readonly endedAt: number
  readonly isInterrupted: boolean
}

const INTERNAL = 1
const CLIENT = 3

/** One turn of an agent, below the span of the agent's process. */
export function turnSpan({ record, traceId }: TracedAgent, entries: TurnEntries): Span {
  const { pid, spec } = record
  const { begun, ended, inputTokens, outputTokens } = entries
  const { turn, reason, calls } = ended.payload
  const name = typeof spec['agent'] === 'string' ? spec['agent'] : record.identity.label
  const failure = failureOf(reason)
  return spanWith({
    traceId,
    spanId: turnSpanId(pid, turn),
    parentSpanId: processSpanId(pid),
    name: `invoke_agent ${name}`,
    kind: INTERNAL,
    beganAt: begun.at,
    endedAt: ended.at,
    failure,
    known: {
      'gen_ai.operation.name': 'invoke_agent',
      ...modelAttributes(String(spec['model'])),
      'gen_ai.agent.id': pid,
      'gen_ai.agent.name': name,
      'gen_ai.conversation.id': pid,
      'gen_ai.usage.input_tokens': inputTokens,
      'gen_ai.usage.output_tokens': outputTokens,
      'reeve.pid': pid,
      'reeve.turn': turn,
      'reeve.turn.cause': begun.payload.cause,
      'reeve.turn.reason': reason,
      'reeve.turn.calls': calls,
    },
  })
}

/** One call of a model, below its turn. */
export function callSpan({ record, traceId }: TracedAgent, entries: CallEntries): Span {
  const { pid } = record
  const { turn, call, model, usage, cut } = entries
  const named = modelAttributes(model)
  return spanWith({
    traceId,
    spanId: callSpanId(pid, entries),
    parentSpanId: turnSpanId(pid, turn),
    name: `chat ${named['gen_ai.request.model']}`,
    kind: CLIENT,
    beganAt: entries.beganAt,
    endedAt: entries.endedAt,
    failure: cut === undefined ? undefined : failureOf(cut),
    known: {
      'gen_ai.operation.name': 'chat',
      ...named,
      'gen_ai.conversation.id': pid,
      'gen_ai.usage.input_tokens': usage?.inputTokens,
      'gen_ai.usage.output_tokens': usage?.outputTokens,
      'gen_ai.usage.cache_read.input_tokens': usage?.cachedInputTokens,
      'reeve.pid': pid,
      'reeve.turn': turn,
      'reeve.call': call,
      'reeve.call.purpose': entries.purpose,
      'reeve.call.retries': entries.retries,
      'reeve.cost': usage?.cost,
      'reeve.usage.is_estimate': usage?.isEstimate,
    },
  })
}

export function toolSpan({ record, traceId }: TracedAgent, entries: ToolEntries): Span {
  const { pid } = record
  const { turn, tool } = entries
  return spanWith({
    traceId,
    spanId: toolSpanId(pid, entries),
    parentSpanId: turnSpanId(pid, turn),
    name: `execute_tool ${tool}`,
    kind: INTERNAL,
    beganAt: entries.beganAt,
    endedAt: entries.endedAt,
    failure: entries.isInterrupted ? 'interrupted' : 'not_run',
    known: { ...toolAttributes(pid, tool, entries), 'reeve.pid': pid },
  })
}

interface SpanFacts extends Pick<Span, 'traceId' | 'spanId' | 'name' | 'kind'> {
  readonly parentSpanId: string
  readonly beganAt: number
  readonly endedAt: number
  readonly failure: string | undefined
  readonly known: Parameters<typeof attributes>[0]
}

function spanWith({ beganAt, endedAt, failure, known, ...ids }: SpanFacts): Span {
  return {
    ...ids,
    startTimeUnixNano: nanos(beganAt),
    endTimeUnixNano: nanos(Math.max(endedAt, beganAt)),
    attributes: attributes({ ...known, 'error.type': failure }),
    events: [],
    droppedEventsCount: 0,
    status: failure === undefined ? { code: STATUS_UNSET } : { code: STATUS_ERROR, message: failure },
  }
}

/** A turn or a call that a person stopped is not an error. */
const STOPPED: ReadonlySet<string> = new Set([
  'finished',
  'cancelled',
  'rolled_back',
  'paused',
] satisfies TurnReason[])

function failureOf(why: string): string | undefined {
  return STOPPED.has(why) ? undefined : why.replaceAll(' ', '_')
}

/** `anthropic/claude-opus-5-5`: the provider's own name may contain slashes. */
function modelAttributes(id: string) {
  const slash = id.indexOf('/')
  return {
    'gen_ai.provider.name': slash <= 0 ? null : id.slice(0, slash),
    'gen_ai.request.model': id.slice(slash + 1),
  }
}
