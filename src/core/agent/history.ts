import type { ProcessEvent } from '../process/event.ts'
import { type AgentEvent, type ENTRY_EVENTS, isEntry } from './event.ts'
import type { TurnCause, TurnReason } from './state.ts'

/** An entry of a session log: its type decides its payload. */
export type AgentEntry = Extract<AgentEvent, { type: (typeof ENTRY_EVENTS)[number] }> &
  Pick<ProcessEvent, 'seq' | 'at' | 'actor' | 'pid'>

/**
 * The entries of the current branch, in order. A turn is on the branch that it follows, so a turn that was rolled back is left out
 * once it has ended, and so is everything after an entry that a later turn does not follow.
 */
export function entriesInView(events: readonly ProcessEvent[]): readonly AgentEntry[] {
  const path: AgentEntry[] = []
  for (const event of events) extendView(path, event)
  return path
}

/** Adds the next event of a log to the entries in view. Returns whether they changed. */
export function extendView(path: AgentEntry[], event: ProcessEvent): boolean {
  const entry = entryOf(event)
  if (entry === null) return false
  if (entry.type === 'turn_begun') cutBehind(path, entry.payload.follows)
  if (entry.type === 'turn_ended' && entry.payload.reason === 'rolled_back') {
    const begun = path.findLastIndex((one) => one.type === 'turn_begun')
    path.length = Math.max(0, begun)
  } else path.push(entry)
  return true
}

function entryOf(event: ProcessEvent): AgentEntry | null {
  const untyped: unknown = event
  return isEntry(event.type) ? (untyped as AgentEntry) : null
}

/** A turn as views show it. */
export interface AgentTurn {
  readonly number: number
  readonly cause: TurnCause
  readonly beganAt: number
  /** Null while it is open. */
  readonly reason: TurnReason | null
  readonly endedAt: number | null
  readonly entries: readonly AgentEntry[]
}

/** The turns of a branch. */
export function turnsOf(entries: readonly AgentEntry[]): readonly AgentTurn[] {
  const turns: { -readonly [Key in keyof AgentTurn]: AgentTurn[Key] }[] = []
  for (const entry of entries) {
    if (entry.type === 'turn_begun') {
      const { turn: number, cause } = entry.payload
      turns.push({ number, cause, beganAt: entry.at, reason: null, endedAt: null, entries: [entry] })
      continue
    }
    const last = turns.at(-1)
    if (last === undefined) continue
    last.entries = [...last.entries, entry]
    if (entry.type !== 'turn_ended') continue
    last.reason = entry.payload.reason
    last.endedAt = entry.at
  }
  return turns
}

/** The entries of the last segment: the sources of a prompt, besides the entries that the segment keeps. */
export function entriesOfSegment(entries: readonly AgentEntry[]): readonly AgentEntry[] {
  const begun = entries.findLastIndex(({ type }) => type === 'segment_begun')
  const segment = entries[begun]
  if (segment?.type !== 'segment_begun') return entries
  const { keepsFrom } = segment.payload
  // The new segment replaces the system prompt and the summary of an earlier one.
  const isKept = ({ seq, type }: AgentEntry) =>
    keepsFrom !== null && seq >= keepsFrom && type !== 'segment_begun'
  const kept = entries.slice(0, begun).filter(isKept)
  return [segment, ...kept, ...entries.slice(begun + 1)]
}

function cutBehind(path: AgentEntry[], follows: number): void {
  const last = path.findLastIndex(({ seq }) => seq <= follows)
  path.length = last + 1
}
