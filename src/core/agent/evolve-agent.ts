import { exact } from '../allowance/amounts.ts'
import { NO_MEMORY, noted } from '../memory/memory-note.ts'
import { awaitsApproval } from '../process/gate.ts'
import type { Actor, ProcessRecord } from '../process/record.ts'
import type { Wait } from '../process/wait.ts'
import { afterContinued } from './earlier-logs.ts'
import { type AgentEvent, isEntry } from './event.ts'
import { countTurn } from './goal.ts'
import { reportsOf, withoutGroup, withSeatFilled } from './report-group.ts'
import { afterRewind } from './rewind.ts'
import { outputsFrom, withOutputOf } from './segment-calls.ts'
import {
  type AgentState,
  type AgentTotals,
  MAX_BUFFERED_NOTICES,
  MAX_JOINED,
  MAX_RECENT_ALERT_CHARS,
  MAX_RECENT_ALERTS,
  NO_NOTICES,
  type NoticeBuffer,
  type OpenTurn,
  type RecentAlert,
  STALL_WINDOW,
} from './state.ts'

type Stored<Event> = Event & { readonly seq: number; readonly at: number }
type PayloadOf<Type extends AgentEvent['type']> = Extract<AgentEvent, { type: Type }>['payload']

/** Applies an event of a session log to the record. Like `evolve`, it never refuses. */
export function evolveAgent(record: ProcessRecord, event: Stored<AgentEvent>): ProcessRecord {
  if (record.agent === null) return record
  const agent = evolveState(record.agent, event)
  switch (event.type) {
    case 'turn_begun':
      return { ...scheduled(record), agent }
    case 'turn_ended':
      return { ...withoutWaits(record), agent }
    case 'agent_idled':
      return idled(record, event)
    case 'agent_configured': {
      const { model, effort } = event.payload
      const changes = { model, ...(effort === undefined ? {} : { effort }) }
      return { ...record, agent, effectiveSpec: { ...(record.effectiveSpec ?? record.spec), ...changes } }
    }
    default:
      return agent === record.agent ? record : { ...record, agent }
  }
}

/** The state of an agent after an event of its log. */
export function evolveState(agent: AgentState, event: Stored<AgentEvent>): AgentState {
  return changed(isEntry(event.type) ? { ...agent, head: event.seq } : agent, event)
}

function changed(agent: AgentState, event: Stored<AgentEvent>): AgentState {
  switch (event.type) {
    case 'input_admitted': {
      const { input: id, mode, asker, schema, until, answer } = event.payload
      const goal =
        until === undefined || answer.type !== 'started'
          ? agent.goal
          : { until, input: id, asker, maxTurns: event.payload.maxTurns ?? 1, done: 0, checks: [] }
      const waits = mode === 'run' ? 'queue' : mode
      const queued = { id, mode: waits, seq: event.seq, asker, hasSchema: schema !== undefined } as const
      return { ...agent, goal, inputs: [...agent.inputs, queued] }
    }
    case 'input_edited': {
      const { input } = event.payload
      const inputs = agent.inputs.map((one) => (one.id === input ? { ...one, seq: event.seq } : one))
      return { ...agent, inputs }
    }
    case 'input_removed':
      return { ...agent, inputs: agent.inputs.filter(({ id }) => id !== event.payload.input) }
    case 'inputs_reordered': {
      const places = event.payload.inputs
      const inputs = agent.inputs.toSorted((a, b) => places.indexOf(a.id) - places.indexOf(b.id))
      return { ...agent, inputs }
    }
    case 'notice_buffered': {
      const { notice: id, cause, seatOf, group } = event.payload
      if (seatOf !== undefined) return withSeatFilled(agent, seatOf, event.seq)
      const told = group === undefined ? [] : reportsOf(agent, group)
      const kept = [{ id, cause, seq: event.seq }, ...told]
      const rest = group === undefined ? agent : withoutGroup(agent, group)
      return { ...rest, notices: plus(agent.notices, { kept, more: 0 }) }
    }
    case 'session_continued':
      return afterContinued(agent, event.payload)
    case 'session_rewound':
      return afterRewind(agent, event.payload, event.seq)
    case 'turn_begun':
      return begun(agent, event.payload, event)
    case 'turn_ended':
      return turnEnded(agent, event.payload)
    case 'model_used': {
      const { turn } = agent
      const totals = plusUse(agent.totals, event.payload)
      if (event.payload.memory === true) return { ...agent, totals }
      // Use that is recorded late belongs to its own turn.
      if (turn === null || turn.number !== event.payload.turn) return { ...agent, totals }
      return { ...agent, totals, turn: { ...turn, used: plusUse(turn.used ?? NO_USE, event.payload) } }
    }
    case 'segment_begun': {
      const { keeps = agent.segment.keeps } = event.payload
      const segment = {
        number: event.payload.segment,
        from: event.seq,
        ...(keeps === undefined ? {} : { keeps }),
      }
      const outputs =
        keeps === undefined || agent.outputs === undefined ? {} : { outputs: outputsFrom(agent, keeps) }
      const moved = { ...agent, segment, ...outputs }
      if (agent.turn === null || event.payload.why !== 'compaction') return moved
      // A roll-back would take the summary back, while the record goes on with its segment.
      const turn = { ...agent.turn, ...withOutput(agent.turn), call: null }
      return { ...moved, turn: turn.cause === 'compact' ? { ...turn, expects: 'end' } : turn }
    }
    case 'agent_alerted': {
      const { alert, limit } = event.payload
      const reached = limit === undefined ? agent.reached : [...agent.reached, limit]
      const alerts = [...(agent.alerts ?? []), recentAlert(event)].slice(-MAX_RECENT_ALERTS)
      return { ...agent, reached, alerts, stall: alert === 'stalled' ? [] : agent.stall }
    }
    case 'memory_noted':
      return { ...agent, memory: noted(agent.memory ?? NO_MEMORY, event.payload.note) }
    case 'program_noted':
      return { ...agent, program: event.payload.program }
    case 'agent_allowed': {
      const { amounts } = event.payload
      return { ...agent, reached: agent.reached.filter((name) => amounts[name] === undefined) }
    }
    default:
      return agent.turn === null ? agent : inTurn(agent, agent.turn, event)
  }
}

function recentAlert({
  seq,
  at,
  payload,
}: Stored<Extract<AgentEvent, { type: 'agent_alerted' }>>): RecentAlert {
  const message = payload.message.slice(0, MAX_RECENT_ALERT_CHARS).toWellFormed()
  return { seq, at, alert: payload.alert, message }
}

/** Events of a model call. After the end of its turn they change nothing. */
function inTurn(agent: AgentState, turn: OpenTurn, event: Stored<AgentEvent>): AgentState {
  const to = (moved: Partial<OpenTurn>): AgentState => ({ ...agent, turn: { ...turn, ...moved } })
  switch (event.type) {
    case 'input_promoted': {
      const { input } = event.payload
      const asker = agent.inputs.find(({ id }) => id === input)?.asker
      const taken = { ...turn.taken, inputs: [...turn.taken.inputs, input] }
      const promoted = to({
        ...joinedBy(turn, asker),
        expects: 'model',
        ...(turn.hasOutput ? {} : { taken }),
      })
      return { ...promoted, inputs: agent.inputs.filter(({ id }) => id !== input), stall: [] }
    }
    case 'notices_promoted': {
      const taken = { ...turn.taken, notices: plus(turn.taken.notices, agent.notices) }
      const promoted = to({ expects: 'model', ...(turn.hasOutput ? {} : { taken }) })
      return { ...promoted, notices: NO_NOTICES }
    }
    case 'model_call_begun': {
      const { call: number, purpose } = event.payload
      const called = to({ calls: number, call: { number, purpose }, interrupted: [] })
      return purpose === 'answer' ? withoutUnanswered(called) : called
    }
    case 'output_begun': {
      const { from } = event.payload
      const call = turn.call === null || from === undefined ? turn.call : { ...turn.call, from }
      return to({ ...withOutput(turn), call })
    }
    case 'assistant_item':
      if (event.payload.goesOn === true)
        return to({ ...withOutput(turn), expects: 'model', ...progress(turn) })
      return to({
        ...withOutput(turn),
        call: null,
        expects: turn.tools.length === 0 ? 'end' : 'model',
        ...progress(turn),
      })
    case 'tool_called': {
      const { call, index, callId, tool, isProviderExecuted, goesOn } = event.payload
      const answered = { ...withOutput(turn), call: goesOn === true ? turn.call : null, ...progress(turn) }
      if (isProviderExecuted === true)
        return to({ ...answered, expects: turn.tools.length === 0 ? 'end' : 'model' })
      return to({ ...answered, expects: 'model', tools: [...turn.tools, { call, index, callId, tool }] })
    }
    case 'tool_answered': {
      const { call, index, isError, pair, output } = event.payload
      const tools = turn.tools.filter((tool) => tool.call !== call || tool.index !== index)
      const closed = to({ tools, expects: 'model', ...progress(turn) })
      const isReferred = output !== undefined && output.isOwn !== true
      const answered = isReferred
        ? withOutputOf(closed, { pid: output.pid, turn: event.payload.turn, call })
        : closed
      if (pair === undefined) return answered
      return { ...answered, stall: [...agent.stall, { ...pair, isError }].slice(-STALL_WINDOW) }
    }
    case 'system_item': {
      const repairs = turn.output !== null && event.payload.kind === 'repair' ? turn.output.repairs + 1 : null
      return to({ expects: 'model', output: repairs === null ? turn.output : { repairs } })
    }
    case 'files_put_back': {
      const { turn: of, left } = event.payload
      if (of !== turn.number || left === undefined || turn.undoSince === undefined) return agent
      const { undoSince: _, ...done } = turn
      return { ...agent, turn: { ...done, expects: 'end' } }
    }
    case 'model_call_cut':
      return to({ call: null, cuts: (turn.cuts ?? 0) + 1 })
    default:
      return agent
  }
}

function begun(
  agent: AgentState,
  begunWith: PayloadOf<'turn_begun'>,
  { seq, at }: Stored<AgentEvent>,
): AgentState {
  const {
    turn: number,
    cause,
    asker,
    input,
    follows,
    hasSchema,
    interrupted,
    goesOnWith,
    undoSince,
  } = begunWith
  const turn: OpenTurn = {
    number,
    cause,
    asker,
    input,
    beganAt: at,
    from: seq,
    follows,
    calls: 0,
    call: null,
    tools: [],
    // A roll-back would hide that files were put back.
    hasOutput: undoSince !== undefined,
    expects: 'model',
    output: hasSchema ? { repairs: 0 } : null,
    crashes: 0,
    taken: { inputs: [], notices: NO_NOTICES },
    interrupted,
    ...(undoSince === undefined ? {} : { undoSince }),
  }
  const { unanswered } = agent
  const goal = unanswered !== undefined && unanswered.number === goesOnWith ? unanswered.goal : agent.goal
  return { ...agent, goal, turns: number, turn, stall: [] }
}

/** The branch goes on before a turn that was rolled back, and its notices wait again. */
function turnEnded(agent: AgentState, { reason, check, goal: next }: PayloadOf<'turn_ended'>): AgentState {
  const { turn, goal } = agent
  const ended = {
    ...withoutUnanswered(agent),
    turn: null,
    stall: [],
    goal: goal === null || next !== 'go_on' ? null : countTurn(goal, check),
  }
  if (turn !== null && reason.startsWith('limit:') && turn.calls === 0)
    return { ...ended, ...unansweredAfter(agent, turn) }
  if (turn === null || reason !== 'rolled_back') return ended
  return { ...ended, head: turn.follows, notices: plus(turn.taken.notices, agent.notices) }
}

/** An input counts more than a notice or a compaction that came behind it. */
function unansweredAfter({ unanswered, goal }: AgentState, turn: OpenTurn): Pick<AgentState, 'unanswered'> {
  const { number, cause, asker, input } = turn
  const isKept = input === null && (unanswered !== undefined || cause === 'compact')
  if (isKept) return unanswered === undefined ? {} : { unanswered }
  return { unanswered: { number, cause, asker, input, hasSchema: turn.output !== null, goal } }
}

function withoutUnanswered({ unanswered: _, ...agent }: AgentState): AgentState {
  return agent
}

/** Queued or running, without waits: the turn is to be executed. A pending approval still decides when. */
function scheduled(record: ProcessRecord): ProcessRecord {
  if (awaitsApproval(record) || record.status === 'stopping') return record
  const isHeld = record.status !== 'queued' && !record.parked
  return { ...record, status: isHeld ? 'running' : 'queued', wait: null, moreWaits: [], parked: false }
}

/** The turn's waits do not matter any more. A parked process keeps them: the next event replaces them. */
function withoutWaits(record: ProcessRecord): ProcessRecord {
  if (record.parked || record.wait === null) return record
  return {
    ...record,
    wait: null,
    moreWaits: [],
    status: record.status === 'waiting' ? 'running' : record.status,
    pausedFrom: record.pausedFrom === 'waiting' ? 'running' : record.pausedFrom,
  }
}

/** An attempt that ends with the agent idle does not count, as with a parked one. */
function idled(
  record: ProcessRecord,
  { payload: { turns, holder }, at }: Stored<Extract<AgentEvent, { type: 'agent_idled' }>>,
): ProcessRecord {
  const wait: Wait = { on: 'input', name: 'turn', ordinal: turns + 1, since: at, until: null }
  return {
    ...record,
    status: 'waiting',
    pausedFrom: null,
    wait,
    moreWaits: [],
    parked: true,
    retryAt: null,
    attempts: holder === null ? record.attempts : record.attempts - 1,
  }
}

/** The loss of a holder counts against the open turn, until there is progress. */
export function afterLostHolder(agent: AgentState | null): AgentState | null {
  if (agent === null || agent.turn === null) return agent
  return { ...agent, turn: { ...agent.turn, crashes: agent.turn.crashes + 1 } }
}

/** Losses and cuts count in a row. */
function progress({ cuts }: OpenTurn): Pick<OpenTurn, 'crashes' | 'cuts'> {
  return cuts === undefined ? { crashes: 0 } : { crashes: 0, cuts: 0 }
}

/** The turn after another actor has given it an input, or has resumed it. */
function joinedBy(turn: OpenTurn, actor: Actor | undefined): Pick<OpenTurn, 'joinedBy'> {
  const joined = turn.joinedBy ?? []
  if (actor === undefined || actor === turn.asker || joined.includes(actor) || joined.length >= MAX_JOINED)
    return turn.joinedBy === undefined ? {} : { joinedBy: joined }
  return { joinedBy: [...joined, actor] }
}

export function afterResume(agent: AgentState | null, actor: Actor): AgentState | null {
  if (agent === null || agent.turn === null) return agent
  const { turn } = agent
  // A pause cuts the open call, and is no trouble.
  const uncut = turn.cuts === undefined ? {} : { cuts: 0 }
  return { ...agent, turn: { ...turn, ...uncut, ...joinedBy(turn, actor) } }
}

const NO_USE: AgentTotals = { inputTokens: 0, outputTokens: 0, cost: 0, unpriced: 0 }

function plusUse(
  totals: AgentTotals,
  { inputTokens, outputTokens, cost }: PayloadOf<'model_used'>,
): AgentTotals {
  return {
    inputTokens: totals.inputTokens + inputTokens,
    outputTokens: totals.outputTokens + outputTokens,
    cost: exact(totals.cost + (cost ?? 0)),
    unpriced: totals.unpriced + (cost === null ? 1 : 0),
  }
}

function withOutput(turn: OpenTurn): Partial<OpenTurn> {
  return turn.hasOutput ? {} : { hasOutput: true, taken: { inputs: [], notices: NO_NOTICES } }
}

function plus(one: NoticeBuffer, other: NoticeBuffer): NoticeBuffer {
  const all = [...one.kept, ...other.kept]
  const kept = all.slice(0, MAX_BUFFERED_NOTICES)
  return { kept, more: one.more + other.more + all.length - kept.length }
}
