import type { ProcessEvent } from '../process/event.ts'
import type { Pid } from '../process/pid.ts'
import { hasEnded, type ProcessRecord } from '../process/record.ts'
import { type Refusal, refusal } from '../refusal.ts'
import { rangesOf } from './branch.ts'
import type { AgentEvent } from './event.ts'
import { type AgentState, NEW_AGENT } from './state.ts'

/** The log of an agent whose session another one continues or branches from. It is referred to and never copied. */
export interface EarlierLog {
  readonly pid: Pid
  /** Its last event of this session. */
  readonly through: number
}

/** How often a session may be continued: the record of its agent names each log. */
export const MAX_EARLIER_LOGS = 64

export type SessionContinued = Extract<AgentEvent, { type: 'session_continued' }>['payload']

/** Why the session of an ended agent cannot be continued by a new one. */
export function refuseRestore(old: ProcessRecord): Refusal | undefined {
  const { pid, agent } = old
  if (agent === null)
    return notRestorable(pid, 'Reeve does not drive it', 'Start it once more with reeve restart.')
  if (!hasEnded(old)) return notRestorable(pid, 'it has not ended', 'Attach to it, or give it an input.')
  if ((agent.earlier ?? []).length < MAX_EARLIER_LOGS) return undefined
  const why = `its session was continued ${MAX_EARLIER_LOGS} times`
  return notRestorable(pid, why, 'Start another agent, with what is left to do as its goal.')
}

export function notRestorable(pid: Pid, why: string, remedy: string): Refusal {
  return refusal('not_restorable', `${pid} cannot be restored: ${why}.`, remedy)
}

/** What the log of the new agent begins with: where its session is, and how far it has got. */
export function continuationOf({ pid, revision, agent }: ProcessRecord): SessionContinued {
  const { earlier = [], turns, segment, head, forkedFrom } = agent ?? NEW_AGENT
  const branch = rangesOf(agent ?? NEW_AGENT)
  const all = [...earlier, { pid, through: revision }]
  const { number, from } = segment
  // Without a segment yet there is no system prompt either: the new agent writes the first one.
  const shift = revision + 1
  return {
    earlier: all,
    turns,
    segment: { number, from: from === 0 ? 0 : seqIn(from, shift) },
    // Without a rewind the head is the last entry of the log.
    ...(branch === undefined ? {} : { head: seqIn(head, shift), branch }),
    ...(forkedFrom === undefined ? {} : { fork: forkedFrom }),
  }
}

/** Where a session comes from, for people: `The session goes on from p_…`. */
export function continuationText({ earlier, fork }: SessionContinued): string {
  const last = earlier.at(-1)?.pid
  return fork?.pid === last ? `branches from ${last} behind turn ${fork?.turn}` : `goes on from ${last}`
}

export function afterContinued(
  agent: AgentState,
  { earlier, turns, segment, head = agent.head, branch, fork }: SessionContinued,
): AgentState {
  return {
    ...agent,
    earlier,
    turns,
    segment,
    head,
    ...(branch === undefined ? {} : { branch: { at: 0, turns: branch, through: turns } }),
    ...(fork === undefined ? {} : { forkedFrom: fork }),
  }
}

export interface PlacedLog extends EarlierLog {
  /** What is subtracted from a `seq` of this log to get its place in the session. */
  readonly shift: number
}

/** The logs of a session in one row of places: the agent's own log has places from 1, and earlier logs have negative ones. */
export function placedLogs(earlier: readonly EarlierLog[]): readonly PlacedLog[] {
  const placed: PlacedLog[] = []
  let shift = 1
  for (const log of earlier.toReversed()) {
    shift += log.through
    placed.unshift({ ...log, shift })
  }
  return placed
}

/**
 * An event of an earlier log with its place in the session, and with the places that its payload names. That log may name places of logs
 * before it, too: 0 is the end of those.
 */
export function placedEvent<Event extends ProcessEvent>(event: Event, shift: number): Event {
  const known: { readonly type: string; readonly payload: unknown } = event
  const { type, payload } = known as AgentEvent
  const moved = { ...event, seq: event.seq - shift }
  switch (type) {
    case 'turn_begun':
      return { ...moved, payload: { ...payload, follows: seqIn(payload.follows, shift) } }
    case 'input_promoted':
      return { ...moved, payload: { ...payload, seq: seqIn(payload.seq, shift) } }
    case 'notices_promoted':
      return { ...moved, payload: { ...payload, seqs: payload.seqs.map((seq) => seqIn(seq, shift)) } }
    case 'session_rewound': {
      const { from, to, segment } = payload
      const begun = segment.from === 0 ? 0 : seqIn(segment.from, shift)
      const places = { from: seqIn(from, shift), to: seqIn(to, shift), segment: { ...segment, from: begun } }
      return { ...moved, payload: { ...payload, ...places } }
    }
    case 'segment_begun': {
      const { keepsFrom } = payload
      const from = keepsFrom === null ? null : seqIn(keepsFrom, shift)
      return { ...moved, payload: { ...payload, keepsFrom: from } }
    }
    default:
      return moved
  }
}

/** A place as an event of a log with this shift names it. */
export function seqIn(seq: number, shift: number): number {
  return (seq > 0 ? seq : Math.min(seq + 1, 0)) - shift
}
