import type { ModelRequest, PromptItem } from '../../../src/core/model/prompt.ts'
import type { StoredEvent } from '../../../src/core/process/event.ts'
import { payloadOf } from '../payload.ts'
import { LAWS, type SessionLaw } from './laws.ts'

interface Sent {
  /** Of the event that began the call. */
  readonly seq: number
  readonly turn: number
  readonly segment: number
  readonly items: readonly string[]
}

/** The prompts that the model of one agent got, compared with the log and with each other. */
export class PromptLog {
  readonly #sent: Sent[] = []
  readonly #summariesKeepAll: boolean
  readonly #broke: (law: SessionLaw, what: string) => void

  /** `summariesKeepAll`: sessions are so short that a summary leaves out no input, unless a request did not fit before it. */
  constructor(summariesKeepAll: boolean, broke: (law: SessionLaw, what: string) => void) {
    this.#summariesKeepAll = summariesKeepAll
    this.#broke = broke
  }

  /** `begun`: the event that began this call. Its kernel may be slow: the turn may be over. */
  asked({ prompt }: ModelRequest, begun: StoredEvent, { events, before: logs }: SessionEvents): void {
    const wrong = problemOf(prompt)
    if (wrong !== undefined) this.#broke(LAWS.prompts, wrong)
    const { turn = 0, call = 0 } = payloadOf(begun, 'model_call_begun') ?? {}
    // A kernel that heard of the end of its turn before it sent the request may have read later entries.
    if (events.some((event) => event.seq > begun.seq && isOver(event, turn))) return
    const branch = branchBehind(logs, events, begun.seq)
    this.#compareInputs(prompt, branch, `call ${turn}.${call}`)
    const sent = {
      seq: begun.seq,
      turn,
      segment: branch.segment,
      items: prompt.map((item) => JSON.stringify(item)),
    }
    const before = this.#sent.findLast(
      (one) => one.seq <= sent.seq && one.segment === sent.segment && !branch.isOff(one.turn),
    )
    const changed = before?.items.findIndex((item, place) => item !== sent.items[place]) ?? -1
    if (changed !== -1)
      this.#broke(LAWS.prefixes, `call ${turn}.${call}: item ${changed} was ${before?.items[changed]}`)
    this.#sent.push(sent)
  }

  /**
   * Each input of the branch is said once, in the order of the log. Most sessions are so short that a summary keeps all of them; otherwise it
   * leaves out the oldest.
   */
  #compareInputs(
    prompt: readonly PromptItem[],
    { inputs, summed, hasOverflowed }: Branch,
    what: string,
  ): void {
    const said = prompt.flatMap((item) => (item.type === 'user' ? [textOf(item.parts)] : []))
    const keepsAll = this.#summariesKeepAll && !hasOverflowed
    const leftOut = keepsAll ? 0 : Math.min(summed, Math.max(0, inputs.length - said.length))
    if (said.join('\n') === inputs.slice(leftOut).join('\n')) return
    const isTwice = new Set(said).size < said.length
    this.#broke(isTwice ? LAWS.inputTwice : LAWS.inputLost, `${what} says ${said}, and the log ${inputs}`)
  }
}

interface SessionEvents {
  readonly events: readonly StoredEvent[]
  /** Of a fork: the logs that its session goes on with, the oldest first, up to where it leaves each. */
  readonly before: readonly (readonly StoredEvent[])[]
}

interface Branch {
  /** The texts of the inputs. */
  readonly inputs: readonly string[]
  /** How many of them were before the last summary. */
  readonly summed: number
  /** `seq` of the event that began the segment. */
  readonly segment: number
  /** A request did not fit before a summary: that summary keeps less than others. */
  readonly hasOverflowed: boolean
  /** Whether a turn is not on the branch: it was rolled back, or a rewind has left it. */
  readonly isOff: (turn: number) => boolean
}

/** The branch as it was at an event. `later`: the logs of the session behind this one. */
function branchAt(
  events: readonly StoredEvent[],
  seq: number,
  later: readonly (readonly StoredEvent[])[] = [],
): Branch {
  const until = events.filter((event) => event.seq <= seq)
  const rolledBack = new Set(
    until.flatMap((event) => {
      const ended = payloadOf(event, 'turn_ended')
      return ended?.reason === 'rolled_back' ? [ended.turn] : []
    }),
  )
  // A rewind names the turns that it keeps; later ones are on the branch until the next rewind.
  const again = later.flat().findLast(isRewind)
  const rewound = again ?? until.findLast(isRewind)
  const kept = rewound === undefined ? undefined : payloadOf(rewound, 'session_rewound')?.turns
  const isSince = ({ seq: place, type }: StoredEvent) => place > (rewound?.seq ?? 0) && type === 'turn_begun'
  const first = again === undefined ? until.find(isSince) : undefined
  const since = first === undefined ? Number.POSITIVE_INFINITY : (payloadOf(first, 'turn_begun')?.turn ?? 0)
  const isKept = (turn: number) =>
    kept === undefined || turn >= since || kept.some(([from, to]) => from <= turn && turn <= to)
  const isOff = (turn: number) => rolledBack.has(turn) || !isKept(turn)
  const inputs: string[] = []
  let segment = 0
  let summed = 0
  let isTooLong = false
  let hasOverflowed = false
  for (const event of until) {
    const promoted = payloadOf(event, 'input_promoted')
    if (promoted !== undefined && !isOff(promoted.turn))
      inputs.push(textOf(partsOf(events[promoted.seq - 1])))
    const begun = payloadOf(event, 'segment_begun')
    if (payloadOf(event, 'model_call_cut')?.why === 'overflow') isTooLong = true
    if (begun !== undefined && !isOff(begun.turn)) {
      segment = event.seq
      summed = inputs.length
      hasOverflowed ||= isTooLong
      isTooLong = false
    }
  }
  return { inputs, summed, segment, hasOverflowed, isOff }
}

/** The inputs of earlier logs come first. A summary in a later log is about all of them, and so is a rewind in a later log. */
function branchBehind(
  logs: readonly (readonly StoredEvent[])[],
  events: readonly StoredEvent[],
  seq: number,
): Branch {
  const rows = [...logs, events.filter((event) => event.seq <= seq)]
  const branches = rows.map((row, index) => branchAt(row, row.length, rows.slice(index + 1)))
  const own = branchAt(events, seq)
  const inputs: string[] = []
  let summed = 0
  for (const branch of branches) {
    if (branch.segment !== 0) summed = inputs.length + branch.summed
    inputs.push(...branch.inputs)
  }
  return { ...own, inputs, summed }
}

function isRewind({ type }: StoredEvent): boolean {
  return type === 'session_rewound'
}

function partsOf(event: StoredEvent | undefined) {
  if (event === undefined) return []
  return (payloadOf(event, 'input_admitted') ?? payloadOf(event, 'input_edited'))?.parts ?? []
}

function textOf(parts: readonly { readonly type: string }[]): string {
  return parts.map((part) => ('text' in part ? String(part.text) : part.type)).join(' ')
}

function isOver(event: StoredEvent, turn: number): boolean {
  return payloadOf(event, 'turn_ended')?.turn === turn
}

/** As a strict provider reads it: each tool call is answered at once, by one result, and no id is used again. */
function problemOf(prompt: readonly PromptItem[]): string | undefined {
  const used = new Set<string>()
  let open: readonly string[] = []
  for (const [place, item] of prompt.entries()) {
    if (item.type === 'tool_results') {
      const answered = item.results.map(({ callId }) => callId)
      if (answered.join() !== open.join()) return `item ${place} answers ${answered}, and ${open} are open`
      open = []
      continue
    }
    if (open.length > 0) return `item ${place} follows ${open}, which have no results`
    if (item.type !== 'assistant') continue
    open = item.parts.flatMap((part) => (part.type === 'tool_call' ? [part.callId] : []))
    const again = open.find((id) => used.has(id) || !used.add(id))
    if (again !== undefined) return `item ${place} has the id ${again} again`
  }
  if (open.length > 0) return `${open} have no results`
  return prompt.at(-1)?.type === 'assistant' ? 'it ends with an answer' : undefined
}
