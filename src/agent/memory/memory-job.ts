import { isOutsideModel } from '../../core/agent/outside.ts'
import { promptOf } from '../../core/agent/prompt.ts'
import { isNativeAgent } from '../../core/agent/state.ts'
import { type MemoryChange, parseChanges, parseNotes } from '../../core/memory/memory-change.ts'
import { NO_MEMORY } from '../../core/memory/memory-note.ts'
import {
  CONSOLIDATE_SYSTEM,
  consolidateRequest,
  EXTRACT_SYSTEM,
  extractRequest,
  sessionLines,
} from '../../core/memory/memory-prompts.ts'
import { memoryOf } from '../../core/memory/memory-spec.ts'
import type { ModelRequest } from '../../core/model/prompt.ts'
import type { Pid } from '../../core/process/pid.ts'
import { hasEnded, type ProcessRecord } from '../../core/process/record.ts'
import { specOf, startSpecOf } from '../../core/process/spec.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import type { AgentParts } from '../agent-parts.ts'
import { SessionHistory } from '../session-history.ts'
import type { Toolbox } from '../toolbox/toolbox.ts'
import { MemoryConflict } from '../tools/memory/change-memory.ts'
import { askMemoryModel, MemoryFailure, type MemoryModels, openMemoryModel } from './ask-memory-model.ts'
import type { MemoryTimes } from './memory-times.ts'

/** The parts that composition gives to the job. */
export interface MemoryJobParts {
  readonly kernel: Kernel
  readonly models: AgentParts['models']
  readonly toolbox: Pick<Toolbox, 'memory'>
  readonly mask: (text: string) => string
  readonly times: MemoryTimes
}

/** The part of a session that a job reads. */
export interface SessionPart {
  readonly from: number
  readonly through: number
}

export type Written =
  | { readonly type: 'written'; readonly files: readonly string[] }
  | { readonly type: 'conflict' }

/** Entries that Reeve makes: system prompts, summaries of what a job has read before, changed instructions. */
const OF_REEVE: ReadonlySet<string> = new Set(['segment_begun', 'system_item'])

/** Of a model whose context window is unknown: small enough for the usual ones. */
const DEFAULT_WINDOW_TOKENS = 100_000
/** More of a session costs more than it tells. */
const MAX_INPUT_TOKENS = 60_000
const CHARS_PER_TOKEN = 3
const MIN_INPUT_CHARS = 2_000
const MAX_ANSWER_TOKENS = 16_000
/** The rules say the same after each turn: an agent is alerted once. */
const RULES = 'rules'

/** The steps of one job. Each begins from the store alone, so any of them can be repeated after a crash. */
export class MemoryJob {
  readonly #parts: MemoryJobParts
  readonly #pid: Pid

  constructor(parts: MemoryJobParts, pid: Pid) {
    this.#parts = parts
    this.#pid = pid
  }

  /** The part of the session that is not in memory yet; null if there is none, or the rules let memory change nothing. */
  async look(): Promise<SessionPart | null> {
    const record = await this.#agent()
    const { agent, revision } = record
    const { through } = agent?.memory ?? NO_MEMORY
    if (agent === null || agent.head <= through) return null
    const why = await (await this.#store(record)).refusesWrites()
    if (why === null) return { from: through, through: revision }
    await this.#noteFailure(record.pid, `failed:${RULES}`, `The rules of the agent do not allow it. ${why}`)
    return null
  }

  /** The lasting facts of a part of the session, as a model sees them. */
  async extract({ from, through }: SessionPart, signal: AbortSignal): Promise<readonly string[]> {
    const agent = await this.#agent()
    const history = new SessionHistory(this.#parts.kernel.edges.store, agent.pid)
    await history.catchUp(agent)
    const entries = (await history.wholeEntries()).filter(
      ({ seq, type }) => seq > from && seq <= through && !OF_REEVE.has(type),
    )
    const partsAt = await history.promoted()
    const modelOf = (turn: number, call: number) => history.modelOf(turn, call)
    const { items } = promptOf({ entries, partsAt, modelOf })
    if (items.length === 0) return []
    const answer = await this.#ask(agent, signal, (chars) => ({
      system: EXTRACT_SYSTEM,
      text: extractRequest(sessionLines(items, chars)),
    }))
    return parseNotes(answer).map((note) => this.#parts.mask(note))
  }

  /** The changes by which memory gets the notes. */
  async consolidate(notes: readonly string[], signal: AbortSignal): Promise<readonly MemoryChange[]> {
    const agent = await this.#agent()
    const files = await (await this.#store(agent)).texts()
    let shown: ReadonlySet<string> = new Set()
    const answer = await this.#ask(agent, signal, (chars) => {
      const masked = files.map(({ path, text }) => ({ path, text: this.#parts.mask(text) }))
      const request = consolidateRequest(notes, masked, chars)
      shown = request.shown
      return { system: CONSOLIDATE_SYSTEM, text: request.text }
    })
    const known = new Map(files.map(({ path, hash }) => [path, hash]))
    const changes = parseChanges(answer, { known, shown })
    return changes.map((change) => ({
      ...change,
      text: change.text === null ? null : this.#parts.mask(change.text),
    }))
  }

  async write(changes: readonly MemoryChange[]): Promise<Written> {
    const agent = await this.#agent()
    try {
      const store = await this.#store(agent)
      return { type: 'written', files: await store.change(this.#pid, changes) }
    } catch (error) {
      if (error instanceof MemoryConflict) return { type: 'conflict' }
      throw error
    }
  }

  async updated(through: number, files: readonly string[]): Promise<void> {
    const { pid } = await this.#agent()
    const note = { type: 'updated', job: this.#pid, through, files } as const
    await this.#parts.kernel.agents.noteMemory(pid, `updated:${this.#pid}`, note)
  }

  async failed(message: string): Promise<void> {
    const { pid } = await this.#agent()
    await this.#noteFailure(pid, `failed:${this.#pid}`, message)
  }

  /** An alert of the agent, once for each id. */
  async #noteFailure(agent: Pid, id: string, message: string): Promise<void> {
    const text = this.#parts.mask(`Long-term memory was not updated: ${message}`)
    const note = { type: 'failed', job: this.#pid, message: text } as const
    await this.#parts.kernel.agents.noteMemory(agent, id, note)
  }

  /** A request that is too long for its model is sent again with half of the text. */
  async #ask(
    agent: ProcessRecord,
    signal: AbortSignal,
    make: (chars: number) => { readonly system: string; readonly text: string },
  ): Promise<string> {
    const models = this.#modelsOf(agent)
    const { model } = await openMemoryModel(this.#parts, agent, models.ids)
    const window = model.facts.contextWindow ?? DEFAULT_WINDOW_TOKENS
    const maxOutputTokens = Math.min(
      MAX_ANSWER_TOKENS,
      Math.floor(window / 4),
      model.facts.maxOutputTokens ?? Number.POSITIVE_INFINITY,
    )
    let chars = Math.max(
      MIN_INPUT_CHARS,
      Math.min(MAX_INPUT_TOKENS, Math.floor(window / 2)) * CHARS_PER_TOKEN,
    )
    for (;;) {
      const { system, text } = make(chars)
      const request: ModelRequest = {
        system,
        prompt: [{ type: 'user', parts: [{ type: 'text', text }] }],
        tools: [],
        settings: { maxOutputTokens },
      }
      const asked = { agent, job: this.#pid, models, request, signal }
      const answer = await askMemoryModel(this.#parts, asked)
      if (answer.type === 'answered') return answer.text
      if (chars <= MIN_INPUT_CHARS)
        throw new MemoryFailure(`${model.id} does not take a request of ${chars} characters.`)
      chars = Math.max(MIN_INPUT_CHARS, Math.floor(chars / 2))
    }
  }

  #modelsOf(agent: ProcessRecord): MemoryModels {
    const { times } = this.#parts
    const { model = times.model, timeoutMs = times.timeoutMs } = memoryOf(agent) ?? {}
    const own = specOf({ kind: agent.kind, spec: startSpecOf(agent) }, 'agent')
    const ids =
      model !== undefined ? [model] : own.model === undefined ? [] : [own.model, ...(own.fallbacks ?? [])]
    return { ids, timeoutMs }
  }

  async #store(agent: ProcessRecord) {
    const store = await this.#parts.toolbox.memory?.(agent)
    if (store === null || store === undefined) throw noMemory(agent.pid)
    return store
  }

  /** The agent whose memory the job keeps: its parent, as it is now. */
  async #agent(): Promise<ProcessRecord> {
    const { store } = this.#parts.kernel.edges
    const job = await store.ask({ ask: 'process', pid: this.#pid })
    const parent = job?.record.parent ?? null
    const row = parent === null ? null : await store.ask({ ask: 'process', pid: parent })
    if (row === null || !isNativeAgent(row.record) || isOutsideModel(startSpecOf(row.record)['model']))
      throw new MemoryFailure('Only an agent that Reeve drives has long-term memory.')
    if (hasEnded(row.record)) throw new MemoryFailure(`${row.record.pid} has ended.`)
    if (memoryOf(row.record) === null) throw noMemory(row.record.pid)
    return row.record
  }
}

function noMemory(pid: Pid): MemoryFailure {
  return new MemoryFailure(`${pid} has no long-term memory.`)
}
