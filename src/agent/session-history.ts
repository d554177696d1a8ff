import { isObject } from '../base/is-object.ts'
import { callKey } from '../core/agent/act.ts'
import { isOnBranch } from '../core/agent/branch.ts'
import { isAgentEvent } from '../core/agent/event.ts'
import { type AgentEntry, BranchView, entriesOfSegment } from '../core/agent/history.ts'
import { fileOfPart } from '../core/agent/input-part.ts'
import { backwards, callProgress, isCompacted, isCompactedInVain } from '../core/agent/log-end.ts'
import { type PromptSource, promptOf, type SessionPrompt } from '../core/agent/prompt.ts'
import { inputKey } from '../core/agent/request.ts'
import type { Part } from '../core/agent/state.ts'
import { isPartBlob } from '../core/blob/part-blob.ts'
import type { JsonObject } from '../core/json/json.ts'
import type { CallProgress } from '../core/model/next-step.ts'
import type { ToolCall } from '../core/model/prompt.ts'
import type { StoredEvent } from '../core/process/event.ts'
import { knownEvent } from '../core/process/event.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { SessionLog } from '../kernel/session-log.ts'
import type { Store } from '../store/contract.ts'
import { loadParts } from './parts/stored-parts.ts'

/** Paths whose folders may have instructions. */
const MAX_TOUCHED = 1_000

/** The session log of one agent, as its executor reads it: the whole log once, and then new events. */
export class SessionHistory {
  readonly #store: Store
  readonly #pid: string
  #events: StoredEvent[] = []
  #log: SessionLog
  /** The place of the last event that was read; null before the first read. */
  #lastSeq: number | null = null
  /** `seq` of the last rewind; the view may need earlier events after another one. */
  #rewoundAt = 0
  readonly #models = new Map<string, string>()
  /** Inputs and notices, by their `seq`. */
  readonly #admitted = new Map<number, StoredEvent>()
  readonly #schemas = new Map<string, JsonObject>()
  readonly #touched = new Set<string>()
  /** Parts that were blobs, by the `seq` of their event. */
  readonly #loaded = new Map<number, readonly Part[]>()
  /** Calls whose use is not in the log, by turn, with the names that the agent uses for their models. */
  readonly #uncharged = new Map<number, Map<number, string>>()
  #view = new BranchView()
  /** Made of the view when they are asked for, and dropped when it changes: a model call asks several times. */
  #entries: readonly AgentEntry[] | null = null
  #prompt: Promise<SessionPrompt> | null = null

  constructor(store: Store, pid: string) {
    this.#store = store
    this.#pid = pid
    this.#log = new SessionLog(store, pid)
  }

  /** How many events are in memory. */
  get size(): number {
    return this.#events.length
  }

  /** Reads the events since the last read. */
  async catchUp({ agent, revision }: ProcessRecord): Promise<void> {
    const rewoundAt = agent?.branch?.at ?? 0
    if (rewoundAt !== this.#rewoundAt) this.#forget()
    this.#rewoundAt = rewoundAt
    if (this.#lastSeq === null) {
      this.#log = new SessionLog(this.#store, this.#pid, agent?.earlier)
      this.#lastSeq = await this.#firstNeeded(agent?.segment.from ?? 0)
    }
    while (this.#lastSeq < revision) {
      const events = await this.#log.after(this.#lastSeq)
      const last = events.at(-1)
      if (last === undefined) return
      for (const event of events) {
        await this.#note(event, agent)
        this.#lastSeq = event.seq
      }
    }
  }

  #forget(): void {
    this.#lastSeq = null
    this.#events = []
    this.#view = new BranchView()
    this.#entries = null
    this.#prompt = null
    this.#touched.clear()
    this.#uncharged.clear()
  }

  async #note(event: StoredEvent, agent: ProcessRecord['agent']): Promise<void> {
    const known = knownEvent(event)
    if (known === null || !isAgentEvent(known)) return
    switch (known.type) {
      case 'model_call_begun':
      case 'assistant_item': {
        const { turn, call, model } = known.payload
        this.#models.set(`${turn}.${call}`, model)
        if (known.type === 'model_call_begun') this.#noteBegun(turn, call, model)
        break
      }
      case 'model_used':
        this.#noteUsed(known.payload.turn, known.payload.call)
        break
      case 'input_admitted':
        if (known.payload.schema !== undefined) this.#schemas.set(known.payload.input, known.payload.schema)
        this.#admitted.set(event.seq, event)
        break
      case 'input_edited':
      case 'notice_buffered':
        this.#admitted.set(event.seq, event)
        break
      case 'tool_called': {
        await this.#noteModel(known.payload)
        const path = pathIn(await this.#load(event.seq, known.payload.parts))
        const isTouched = path !== undefined && isOnBranch(agent ?? {}, known.payload.turn)
        if (isTouched && this.#touched.size < MAX_TOUCHED) this.#touched.add(path)
        break
      }
    }
    this.#events.push(event)
    if (!this.#view.add(event)) return
    this.#entries = null
    this.#prompt = null
  }

  /** The first kept answer of a summarised session may have no text: then only the beginning of its call, which is not kept, names its model. */
  async #noteModel({ turn, call }: { readonly turn: number; readonly call: number }): Promise<void> {
    if (this.modelOf(turn, call) !== undefined) return
    const begun = await this.#eventWith(callKey({ turn, call }))
    if (begun?.type === 'model_call_begun') this.#models.set(`${turn}.${call}`, begun.payload.model)
  }

  #noteBegun(turn: number, call: number, id: string): void {
    const calls = this.#uncharged.get(turn)
    if (calls === undefined) this.#uncharged.set(turn, new Map([[call, id]]))
    else calls.set(call, id)
  }

  #noteUsed(turn: number, call: number): void {
    const calls = this.#uncharged.get(turn)
    calls?.delete(call)
    if (calls?.size === 0) this.#uncharged.delete(turn)
  }

  /** The entries that the next prompt is made of. */
  get entries(): readonly AgentEntry[] {
    this.#entries ??= entriesOfSegment([...this.#view.entries])
    return this.#entries
  }

  /** The call of a model that this entry has. */
  async toolCall(turn: number, call: number, index: number): Promise<Partial<ToolCall> | undefined> {
    const entry = this.entries.findLast(
      ({ type, payload }) =>
        type === 'tool_called' && payload.turn === turn && payload.call === call && payload.index === index,
    )
    if (entry?.type !== 'tool_called') return undefined
    const [part] = await this.#load(entry.seq, entry.payload.parts)
    return part as (Part & Partial<ToolCall>) | undefined
  }

  /** Whether the current branch has a system prompt. It has none if the turn that began with it was rolled back. */
  get hasSegment(): boolean {
    return this.entries.some(({ type }) => type === 'segment_begun')
  }

  /** The first request of the session, if it was summarised before. */
  get summarisedGoal(): string | undefined {
    const segment = this.entries.find((entry) => entry.type === 'segment_begun')
    const goal = segment?.payload.parts.find(({ type }) => type === 'summary')?.['goal']
    return typeof goal === 'string' ? goal : undefined
  }

  /** The skills that the last summary has kept. */
  get summarisedSkills(): readonly string[] {
    const segment = this.entries.find((entry) => entry.type === 'segment_begun')
    const names = segment?.payload.parts.find(({ type }) => type === 'skills')?.['names']
    return Array.isArray(names) ? names.map(String) : []
  }

  /** The files that the inputs of the entries refer to. */
  get referencedFiles(): readonly { readonly path: string; readonly hash: string; readonly at: number }[] {
    return this.entries.flatMap(promotedIn).flatMap((seq) => {
      const event = this.#admitted.get(seq)
      const known = event === undefined ? null : knownEvent(event)
      if (event === undefined || known === null || !('parts' in known.payload)) return []
      return known.payload.parts.flatMap((part) => {
        const file = fileOfPart(part)
        return file === null ? [] : [{ ...file, at: event.at }]
      })
    })
  }

  /** The paths that tools were called with. */
  get touchedPaths(): readonly string[] {
    return [...this.#touched]
  }

  /** The entries with the content of their blobs. */
  async wholeEntries(): Promise<readonly AgentEntry[]> {
    const whole = [...this.entries]
    for (const [index, entry] of whole.entries())
      if (hasBlobs(entry)) whole[index] = await this.#wholeEntry(entry)
    return whole
  }

  prompt(): Promise<SessionPrompt> {
    if (this.#prompt !== null) return this.#prompt
    const made = this.#makePrompt()
    this.#prompt = made
    // A blob that could not be read may be readable the next time.
    made.catch(() => {
      if (this.#prompt === made) this.#prompt = null
    })
    return made
  }

  async #makePrompt(): Promise<SessionPrompt> {
    return promptOf({
      entries: await this.wholeEntries(),
      partsAt: await this.promoted(),
      modelOf: (turn, call) => this.modelOf(turn, call),
    })
  }

  /** The parts of inputs and notices of the entries, by the `seq` of the event that has them. */
  async promoted(): Promise<PromptSource['partsAt']> {
    const parts = new Map<number, readonly Part[]>()
    for (const seq of this.entries.flatMap(promotedIn)) parts.set(seq, await this.#partsAt(seq))
    return (seq) => parts.get(seq) ?? []
  }

  modelOf(turn: number, call: number): string | undefined {
    return this.#models.get(`${turn}.${call}`)
  }

  /** The JSON schema that the result of a turn must fit, as the input of the turn has it. A compaction may have left the input out. */
  async schemaOf(input: string | null): Promise<JsonObject | null> {
    if (input === null) return null
    const known = this.#schemas.get(input)
    if (known !== undefined) return known
    const admitted = await this.#eventWith(inputKey(input))
    return admitted?.type === 'input_admitted' ? (admitted.payload.schema ?? null) : null
  }

  /** How far the calls for the next answer have got, before a crash or here. */
  progressOf(turn: number): CallProgress {
    return callProgress(this.#events, turn)
  }

  /** Calls of the turn whose use is not in the log: a crash came in between. */
  uncharged(turn: number): readonly number[] {
    return [...(this.#uncharged.get(turn)?.keys() ?? [])]
  }

  /** The name that the agent uses for the model of an uncharged call. The answer has the name that the model gives itself. */
  idOf(turn: number, call: number): string | undefined {
    return this.#uncharged.get(turn)?.get(call)
  }

  /** Answers at the end of the turn in which no call could be executed. */
  async invalidAnswers(turn: number): Promise<number> {
    let count = 0
    let call = 0
    for (const entry of backwards(this.entries)) {
      if (entry.type === 'tool_answered' || entry.type === 'assistant_item') continue
      if (entry.type !== 'tool_called' || entry.payload.turn !== turn) break
      const [part] = await this.#load(entry.seq, entry.payload.parts)
      if (part?.['problem'] === undefined) break
      if (entry.payload.call !== call) count += 1
      call = entry.payload.call
    }
    return count
  }

  isCompactedIn(turn: number): boolean {
    return isCompacted(this.#events, turn)
  }

  get isCompactedInVain(): boolean {
    return isCompactedInVain(this.#events)
  }

  async #wholeEntry(entry: AgentEntry): Promise<AgentEntry> {
    if (!('parts' in entry.payload)) return entry
    const parts = await this.#load(entry.seq, entry.payload.parts)
    return { ...entry, payload: { ...entry.payload, parts } } as AgentEntry
  }

  async #partsAt(seq: number): Promise<readonly Part[]> {
    // An input may have been admitted before the segment began.
    const found = this.#admitted.get(seq) ?? (await this.#log.at(seq))
    const known = found === undefined ? null : knownEvent(found)
    switch (known?.type) {
      case 'input_admitted':
      case 'input_edited':
      case 'notice_buffered':
        return this.#load(seq, known.payload.parts)
      default:
        return []
    }
  }

  async #eventWith(replayKey: string) {
    const found = await this.#log.with(replayKey)
    return found === null ? null : knownEvent(found)
  }

  async #load(seq: number, parts: readonly Part[]): Promise<readonly Part[]> {
    const known = this.#loaded.get(seq)
    if (known !== undefined) return known
    const loaded = await loadParts(this.#store.blobs, parts)
    if (loaded !== parts) this.#loaded.set(seq, loaded)
    return loaded
  }

  /** A summarised session is read from the first entry that the summary keeps. */
  async #firstNeeded(segmentFrom: number): Promise<number> {
    const begun = segmentFrom === 0 ? undefined : await this.#log.at(segmentFrom)
    const known = begun === undefined ? null : knownEvent(begun)
    if (known?.type !== 'segment_begun' || known.payload.why !== 'compaction') return this.#log.beginning
    return Math.min(known.payload.keepsFrom ?? segmentFrom, segmentFrom) - 1
  }
}

/** The argument `path` of a tool call, as file tools have it. */
function pathIn([part]: readonly Part[]): string | undefined {
  const input = part?.['input']
  const path = isObject(input) ? input['path'] : undefined
  return typeof path === 'string' ? path : undefined
}

function hasBlobs({ payload }: AgentEntry): boolean {
  return 'parts' in payload && payload.parts.some(isPartBlob)
}

function promotedIn(entry: AgentEntry): readonly number[] {
  if (entry.type === 'input_promoted') return [entry.payload.seq]
  return entry.type === 'notices_promoted' ? entry.payload.seqs : []
}
