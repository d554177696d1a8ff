import type { EventOf, KnownEvent, TypedEvent } from '../core/process/event.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { ReeveVerbs } from '../verbs/reeve.ts'
import { callSpan, type PayloadOf, type TracedAgent, toolSpan, turnSpan } from './agent-span.ts'
import type { Span } from './span.ts'

/** The events that complete a span of an agent. */
export const AGENT_SPAN_EVENTS: ReadonlySet<string> = new Set<KnownEvent['type']>([
  'model_used',
  'model_call_begun',
  'tool_answered',
  'turn_ended',
])

/** Events per read of a session log, newest first. Entries of one model call are next to each other. */
const FIRST_WINDOW = 32
const MAX_WINDOW = 512

/**
 * The spans that an event of an agent completes: of its turn, its model calls, and tool calls without a process. Open spans are not
 * kept in memory: the entries are read back from the log when the span is complete, so a restart loses none.
 *
 * A model call is complete with its usage, which follows the answer; without usage, with the next call or the end of the turn.
 */
export class AgentSpans {
  readonly #reeve: ReeveVerbs
  readonly #trace: (record: ProcessRecord) => Promise<string>

  constructor(reeve: ReeveVerbs, trace: (record: ProcessRecord) => Promise<string>) {
    this.#reeve = reeve
    this.#trace = trace
  }

  async spansFor(typed: TypedEvent): Promise<readonly Span[]> {
    const event = known(typed)
    const record = await this.#reeve.show({ pid: event.pid })
    const agent = { record, traceId: await this.#trace(record) }
    switch (event.type) {
      case 'model_used':
        return this.#usedCall(agent, event)
      case 'model_call_begun': {
        const { turn, call } = event.payload
        return call > 1 ? this.#unusedCall(agent, event, turn, call - 1) : []
      }
      case 'tool_answered':
        return this.#tool(agent, event)
      case 'turn_ended':
        return this.#turn(agent, event)
      default:
        return []
    }
  }

  async #usedCall(agent: TracedAgent, used: EventOf<'model_used'>): Promise<readonly Span[]> {
    const { turn, call, memory } = used.payload
    // It belongs to no turn.
    if (memory === true) return []
    const entries = new CallLog(turn, call)
    for await (const event of this.#before(used)) {
      // The span was exported without usage: it was complete when a later call began, or the turn ended.
      if (isAfterCall(event, turn, call)) return []
      if (entries.note(event) === 'whole' || isTurnBegun(event, turn)) break
    }
    return [callSpan(agent, entries.complete(used.at, used.payload))]
  }

  /** The span of a call that had no usage up to this event. */
  async #unusedCall(
    agent: TracedAgent,
    last: KnownEvent,
    turn: number,
    call: number,
  ): Promise<readonly Span[]> {
    const entries = new CallLog(turn, call)
    for await (const event of this.#before(last)) {
      if (isUsage(event, turn, call) || isTurnBegun(event, turn)) return []
      if (entries.note(event) === 'whole') break
    }
    return entries.isWhole
      ? [callSpan(agent, entries.complete(last.at, await this.#lateUsage(last, turn, call)))]
      : []
  }

  /** Of a call that was stopped, the usage follows the end of its turn. */
  async #lateUsage(
    { pid, seq }: KnownEvent,
    turn: number,
    call: number,
  ): Promise<PayloadOf<'model_used'> | undefined> {
    const { events } = await this.#reeve.events({ pid, after: seq, limit: FIRST_WINDOW })
    return events.map((event) => usageIn(known(event), turn, call)).find((usage) => usage !== undefined)
  }

  async #turn(agent: TracedAgent, ended: EventOf<'turn_ended'>): Promise<readonly Span[]> {
    const { turn, calls } = ended.payload
    const last = calls === 0 ? [] : await this.#unusedCall(agent, ended, turn, calls)
    let inputTokens = 0
    let outputTokens = 0
    for await (const event of this.#before(ended)) {
      if (event.type === 'model_used' && event.payload.turn === turn) {
        inputTokens += event.payload.inputTokens
        outputTokens += event.payload.outputTokens
      }
      if (event.type === 'turn_begun' && event.payload.turn === turn)
        return [...last, turnSpan(agent, { begun: event, ended, inputTokens, outputTokens })]
    }
    return last
  }

  /** The process of a tool call is its span. */
  async #tool(agent: TracedAgent, answered: EventOf<'tool_answered'>): Promise<readonly Span[]> {
    const { pid, at, payload } = answered
    const { turn, call, index, isError, interrupted = false } = payload
    // A call without a process has no result but an error.
    if (!isError || (await this.#hasProcess(pid, `${pid}.${turn}.${call}.${index}`))) return []
    for await (const event of this.#before(answered)) {
      if (isTurnBegun(event, turn)) return []
      if (event.type !== 'tool_called') continue
      const { payload: called } = event
      if (called.turn !== turn || called.call !== call || called.index !== index) continue
      const times = { beganAt: event.at, endedAt: at }
      return [toolSpan(agent, { ...times, turn, call, index, tool: called.tool, isInterrupted: interrupted })]
    }
    return []
  }

  async #hasProcess(agent: string, toolCall: string): Promise<boolean> {
    const filter = { parent: [agent], owner: { toolCall }, status: 'any' as const }
    const { processes } = await this.#reeve.list({ filter, limit: 1 })
    return processes.length > 0
  }

  /** The events of its process before this one, the newest first. */
  async *#before({ pid, seq }: KnownEvent): AsyncGenerator<KnownEvent> {
    let size = FIRST_WINDOW
    for (let end = seq - 1; end > 0; size = Math.min(size * 4, MAX_WINDOW)) {
      const start = Math.max(0, end - size)
      yield* (await this.#between(pid, start, end)).reverse()
      end = start
    }
  }

  async #between(pid: string, after: number, last: number): Promise<KnownEvent[]> {
    const found: KnownEvent[] = []
    for (let at = after; at < last; ) {
      const { events } = await this.#reeve.events({ pid, after: at, limit: last - at })
      const newest = events.at(-1)
      if (newest === undefined) break
      found.push(...events.map(known))
      at = newest.seq
    }
    return found
  }
}

/** No process declares a type of an entry: those are reserved. */
function known(event: TypedEvent): KnownEvent {
  return event as KnownEvent
}

/** Collects the entries of one model call, the newest first. */
class CallLog {
  readonly #turn: number
  readonly #call: number
  #begun: EventOf<'model_call_begun'> | undefined
  #endedAt: number | undefined
  #cut: string | undefined
  #retries = 0

  constructor(turn: number, call: number) {
    this.#turn = turn
    this.#call = call
  }

  get isWhole(): boolean {
    return this.#begun !== undefined
  }

  note(event: KnownEvent): 'whole' | 'more' {
    if (!isInCall(event, this.#turn, this.#call)) return 'more'
    switch (event.type) {
      case 'model_call_begun':
        this.#begun = event
        return 'whole'
      case 'model_call_retried':
        this.#retries += 1
        break
      case 'model_call_cut':
        this.#cut = event.payload.why
        this.#endedAt = event.at
        break
      case 'assistant_item':
      case 'tool_called':
      case 'segment_begun':
        // The first of them ended the call: it is noted last.
        this.#endedAt = event.at
        break
    }
    return 'more'
  }

  /** A call that is only charged, such as the check of a goal, has no beginning in the log. */
  complete(at: number, usage: PayloadOf<'model_used'> | undefined) {
    return {
      turn: this.#turn,
      call: this.#call,
      model: this.#begun?.payload.model ?? usage?.model ?? '',
      purpose: this.#begun?.payload.purpose ?? 'check',
      beganAt: this.#begun?.at ?? at,
      endedAt: this.#endedAt ?? at,
      retries: this.#retries,
      ...(this.#cut === undefined ? {} : { cut: this.#cut }),
      ...(usage === undefined ? {} : { usage }),
    }
  }
}

function isInCall({ payload }: KnownEvent, turn: number, call: number): boolean {
  const place = Object(payload) as { readonly turn?: unknown; readonly call?: unknown }
  return place.turn === turn && place.call === call
}

function isTurnBegun(event: KnownEvent, turn: number): boolean {
  return event.type === 'turn_begun' && event.payload.turn === turn
}

function isAfterCall(event: KnownEvent, turn: number, call: number): boolean {
  if (event.type === 'turn_ended') return event.payload.turn === turn
  return event.type === 'model_call_begun' && event.payload.turn === turn && event.payload.call > call
}

function usageIn(event: KnownEvent, turn: number, call: number): PayloadOf<'model_used'> | undefined {
  if (event.type !== 'model_used') return undefined
  const { payload } = event
  return payload.turn === turn && payload.call === call ? payload : undefined
}

function isUsage(event: KnownEvent, turn: number, call: number): boolean {
  return usageIn(event, turn, call) !== undefined
}
