import { hash } from 'node:crypto'
import {
  type ContextNow,
  changedContext,
  contextKey,
  contextParts,
  toldInstructions,
} from '../core/agent/context.ts'
import { type CallPlace, NEW_AGENT, nextSegment, type Part } from '../core/agent/state.ts'
import { mapStrings } from '../core/json/map-strings.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { specOf, startSpecOf } from '../core/process/spec.ts'
import type { AgentLedger } from './agent-ledger.ts'
import type { AgentParts } from './agent-parts.ts'
import { storeParts } from './parts/stored-parts.ts'
import { readInstructions } from './prompt/instructions.ts'
import type { SessionHistory } from './session-history.ts'

/** Writes the system prompt of a session, and later its changes. Both are entries, so that prompts are made of the log alone. */
export class AgentContext {
  readonly #ledger: AgentLedger
  readonly #parts: AgentParts
  readonly #history: SessionHistory

  constructor(ledger: AgentLedger, parts: AgentParts, history: SessionHistory) {
    this.#ledger = ledger
    this.#parts = parts
    this.#history = history
  }

  /** Called between model calls. Returns whether something was written. */
  async sample(record: ProcessRecord, turn: number): Promise<boolean> {
    const now = await this.#now(record)
    if (!this.#history.hasSegment) {
      // The first input was promoted before its system prompt could be written.
      const keepsFrom = this.#history.entries[0]?.seq ?? null
      await this.beginSegment(record, {
        turn,
        why: 'context',
        keepsFrom,
        parts: await this.partsNow(record, now),
      })
      return true
    }
    const { tools, sources } = await this.#history.prompt()
    const changed = changedContext(now, { tools, sources })
    if (changed === null) return false
    const key = hash('sha256', contextKey(changed), 'hex')
    const { parts, blobs } = storeParts(changed)
    await this.#ledger.act({ type: 'add_system_item', turn, kind: 'context', parts, key }, blobs)
    return true
  }

  /** The parts of a segment that begins now. */
  async partsNow(record: ProcessRecord, given?: ContextNow): Promise<readonly Part[]> {
    const now = given ?? (await this.#now(record))
    const memory = await (await this.#parts.toolbox.memory?.(record))?.index()
    return contextParts(memory === undefined ? now : { ...now, memory: this.#parts.mask(memory) })
  }

  async beginSegment(record: ProcessRecord, segment: NewSegment): Promise<void> {
    const { parts, blobs } = storeParts(segment.parts)
    const number = nextSegment(record.agent ?? NEW_AGENT)
    const act = { type: 'begin_segment', ...segment, parts, segment: number } as const
    await this.#ledger.act(act, blobs)
  }

  /** The sources as they are now. They are masked here: what is written goes to models, and does not change any more. */
  async #now(record: ProcessRecord): Promise<ContextNow> {
    const { system = null } = specOf({ kind: record.kind, spec: startSpecOf(record) }, 'agent')
    const sources = this.#history.hasSegment ? (await this.#history.prompt()).sources : null
    const declared = await this.#parts.toolbox.declarations(record)
    const skills = await this.#parts.toolbox.skills(record)
    const instructions =
      record.cwd === null
        ? []
        : await readInstructions(record.cwd, {
            touched: this.#history.touchedPaths,
            told: toldInstructions(sources),
          })
    const mask = (text: string) => this.#parts.mask(text)
    return {
      system: system === null ? null : mask(system),
      workspace: record.cwd,
      date: new Date(this.#ledger.now()).toISOString().slice(0, 'yyyy-mm-dd'.length),
      instructions: instructions.map((one) => ({ ...one, text: mask(one.text) })),
      skills: skills.map(({ name, description }) => ({ name, description: mask(description) })),
      tools: declared.map(({ name, description, inputSchema }) => ({
        name,
        description: mask(description),
        input: mapStrings(inputSchema, mask),
      })),
    }
  }
}

interface NewSegment {
  readonly turn: number
  readonly why: 'context' | 'compaction'
  readonly keepsFrom: number | null
  readonly keeps?: CallPlace
  readonly parts: readonly Part[]
}
