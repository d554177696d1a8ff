import { basename } from 'node:path'
import type { TypedEvent } from '../core/process/event.ts'
import type { Outcome, ProcessRecord } from '../core/process/record.ts'
import { type Attribute, attributes, nanos, type Value } from './otlp.ts'
import { processSpanId, treeTraceId, turnSpanId } from './span-ids.ts'
import { toolAttributes, toolCallOf } from './tool-call.ts'

export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly Attribute[]
  readonly events: readonly SpanEvent[]
  readonly droppedEventsCount: number
  readonly status: { readonly code: number; readonly message?: string }
}

interface SpanEvent {
  readonly name: string
  readonly timeUnixNano: string
  readonly attributes: readonly Attribute[]
}

/** The default limit of collectors. */
export const MAX_EVENTS = 128

const INTERNAL = 1
export const STATUS_UNSET = 0
export const STATUS_ERROR = 2

/**
 * An ended process as a span below the span of its parent. A tree is one trace, or part of the trace that it was started in.
 * The ids are derived from the pids, so a span that is exported twice is the same span. Command lines and values are left out:
 * they may hold private data.
 */
export function spanOf(
  record: ProcessRecord,
  outcome: Outcome,
  events: readonly TypedEvent[],
  all: number,
  root: Pick<ProcessRecord, 'causedBy'>,
): Span {
  const exported = events.filter(({ type }) => !IMPLIED.has(type)).slice(-MAX_EVENTS)
  const parentSpanId = parentOf(record, root)
  return {
    traceId: traceIdOf(record, root),
    spanId: processSpanId(record.pid),
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    name: nameOf(record),
    kind: INTERNAL,
    startTimeUnixNano: nanos(record.createdAt),
    endTimeUnixNano: nanos(Math.max(outcome.endedAt, record.createdAt)),
    attributes: attributesOf(record, outcome),
    events: exported.map(eventOf),
    droppedEventsCount: Math.max(0, all - IMPLIED.size - exported.length),
    status: statusOf(outcome),
  }
}

export function traceIdOf(
  record: Pick<ProcessRecord, 'root'>,
  root: Pick<ProcessRecord, 'causedBy'>,
): string {
  return callerOf(root)?.traceId ?? treeTraceId(record.root)
}

/** The parent of a tool call of an agent is its turn. */
function parentOf(record: ProcessRecord, root: Pick<ProcessRecord, 'causedBy'>): string | undefined {
  const { parent } = record
  if (parent === null) return callerOf(root)?.spanId
  const toolCall = toolCallOf(record)
  return toolCall === undefined ? processSpanId(parent) : turnSpanId(parent, toolCall.turn)
}

function attributesOf(record: ProcessRecord, outcome: Outcome): Attribute[] {
  const { pid, kind, name, owner, lifetime, attempts, restartOf, program, firstStarted } = record
  return attributes({
    ...agentToolAttributes(record, outcome),
    'reeve.pid': pid,
    'reeve.kind': kind,
    'reeve.name': name,
    'reeve.status': outcome.status,
    'reeve.reason': outcome.reason,
    'reeve.signal': outcome.signal,
    'reeve.evidence': outcome.evidence,
    'reeve.session': owner.session,
    'reeve.lifetime': lifetime,
    'reeve.attempts': attempts,
    'reeve.restart_of': restartOf,
    'reeve.waited_ms': firstStarted === null ? null : Math.max(0, firstStarted.at - record.createdAt),
    'process.pid': program?.osPid,
    'process.exit.code': outcome.exitCode,
  })
}

/** The attributes of a tool call of an agent. */
function agentToolAttributes(record: ProcessRecord, outcome: Outcome) {
  const { parent, kind, identity } = record
  const toolCall = toolCallOf(record)
  if (kind !== 'tool' || parent === null || toolCall === undefined) return {}
  return {
    ...toolAttributes(parent, identity.label, toolCall),
    'error.type': isError(outcome) ? (outcome.reason ?? outcome.status) : null,
  }
}

/** Collectors group spans by name: it has the program or the tool, never its arguments. */
function nameOf(record: ProcessRecord): string {
  const { kind, name, spec, identity } = record
  if (kind === 'tool' && toolCallOf(record) !== undefined) return `execute_tool ${identity.label}`
  if (kind !== 'command') return `${kind} ${identity.label}`
  const { argv } = spec as { argv?: readonly string[] }
  return `command ${name ?? (argv?.[0] === undefined ? 'shell' : basename(argv[0]))}`
}

/** The start and the end of the span stand for these events. */
const IMPLIED: ReadonlySet<string> = new Set(['registered', 'ended'])

/** The members of a payload that are exported: short words of Reeve's own, no values. */
const EXPORTED: Readonly<Record<string, readonly string[]>> = {
  child_registered: ['pid', 'kind', 'stepIndex'],
  step_ended: ['stepIndex', 'kind', 'name', 'how', 'tries'],
  step_tried: ['stepIndex', 'kind', 'name', 'tries'],
  started: ['holder', 'attempt'],
  program_started: ['osPid'],
  taken_over: ['from', 'holder'],
  holder_lost: ['holder', 'evidence'],
  released: ['holder'],
  paused: ['source'],
  resumed: ['source'],
  stop_requested: ['how', 'reason', 'source', 'cause'],
  wait_entered: ['on', 'name', 'stepIndex'],
  wait_left: ['on', 'name', 'how', 'stepIndex'],
  abandon_requested: ['reason', 'source'],
}

function eventOf({ type, at, seq, payload }: TypedEvent): SpanEvent {
  const facts = Object(payload) as Readonly<Record<string, unknown>>
  const exported = (EXPORTED[type] ?? []).flatMap((key) => {
    const value = facts[key]
    return isValue(value) ? [[`reeve.${key}`, value] as const] : []
  })
  return {
    name: type,
    timeUnixNano: nanos(at),
    attributes: attributes({ 'reeve.seq': seq, ...Object.fromEntries(exported) }),
  }
}

function isValue(value: unknown): value is Value {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

/** A process that was stopped on purpose is not an error. */
function isError({ status }: Outcome): boolean {
  return status !== 'completed' && status !== 'cancelled'
}

function statusOf(outcome: Outcome): Span['status'] {
  const { status, reason, exitCode, signal } = outcome
  if (!isError(outcome)) return { code: STATUS_UNSET }
  const how = reason ?? signal ?? (exitCode === null ? status : `exit code ${exitCode}`)
  return { code: STATUS_ERROR, message: how }
}

/** The span that the tree was started in, if its caller named it: `00-<trace>-<span>-<flags>`; ids of zeros are invalid. */
function callerOf({ causedBy }: Pick<ProcessRecord, 'causedBy'>) {
  const found = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}/.exec(
    String(causedBy?.['traceparent']),
  )
  const [, traceId = '', spanId = ''] = found ?? []
  return /[1-9a-f]/.test(traceId) && /[1-9a-f]/.test(spanId) ? { traceId, spanId } : undefined
}
