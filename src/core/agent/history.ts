import type { ProcessEvent } from '../process/event.ts'
import { type AgentEvent, type ENTRY_EVENTS, isEntry } from './event.ts'
import type { SessionRewound } from './rewind.ts'
import type { TurnCause, TurnReason } from './state.ts'

/** An entry of a session log: its type decides its payload. */
export type AgentEntry = Extract<AgentEvent, { type: (typeof ENTRY_EVENTS)[number] }> &
  Pick<ProcessEvent, 'seq' | 'at' | 'actor' | 'pid'>

/**
 * The entries of the current branch, in order. A turn is on the branch that it follows, so a turn that was rolled back is left out
 * once it has ended, and so is everything after an entry that a later turn does not follow, or that a rewind has gone back to.
 */
export function entriesInView(events: readonly ProcessEvent[]): readonly AgentEntry[] {
  const view = new BranchView()
  for (const event of events) view.add(event)
  return view.entries
}

/** The entries of the current branch, as events of the log are added. */
export class BranchView {
  /** Of all branches: a rewind may select one again. */
  readonly #all: AgentEntry[] = []
  #path: AgentEntry[] = []

  get entries(): readonly AgentEntry[] {
    return this.#path
  }

  /** Adds the next event. Returns whether the entries changed. */
  add(event: ProcessEvent): boolean {
    const rewound = rewindOf(event)
    if (rewound !== null) {
      this.#path = pathTo(this.#all, rewound.to)
      return true
    }
    const entry = entryOf(event)
    if (entry === null) return false
    this.#all.push(entry)
    if (entry.type === 'turn_begun') this.#path.length = lastAt(this.#path, entry.payload.follows) + 1
    if (entry.type === 'turn_ended' && entry.payload.reason === 'rolled_back') {
      const begun = this.#path.findLastIndex((one) => one.type === 'turn_begun')
      this.#path.length = Math.max(0, begun)
    } else this.#path.push(entry)
    return true
  }
}

/** The branch that ends at a place. Entries of a turn follow each other, and its first one names the entry before the turn. */
function pathTo(all: readonly AgentEntry[], head: number): AgentEntry[] {
  const path: AgentEntry[] = []
  for (let index = lastAt(all, head); index >= 0; ) {
    const entry = all[index] as AgentEntry
    path.push(entry)
    index = entry.type === 'turn_begun' ? lastAt(all, entry.payload.follows) : index - 1
  }
  return path.reverse()
}

/** The index of the last entry that is not behind a place; -1 if all are. */
function lastAt(entries: readonly AgentEntry[], place: number): number {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((entries[middle]?.seq ?? 0) <= place) low = middle + 1
    else high = middle
  }
  return low - 1
}

function rewindOf({ type, payload }: ProcessEvent): SessionRewound | null {
  const untyped: unknown = payload
  return type === 'session_rewound' ? (untyped as SessionRewound) : null
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
