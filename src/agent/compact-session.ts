import {
  COMPACTION_SYSTEM,
  compactionRequest,
  firstKept,
  RESERVED_TOKENS,
  summaryText,
  transcriptOf,
} from '../core/agent/compaction.ts'
import { callOf } from '../core/agent/segment-calls.ts'
import { keptSkillsText, loadedSkills } from '../core/agent/skills.ts'
import type { ModelRequest, PromptItem } from '../core/model/prompt.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { AgentContext } from './agent-context.ts'
import type { AgentLedger } from './agent-ledger.ts'
import type { AgentParts } from './agent-parts.ts'
import type { CallPlace, ModelCaller, TurnFailure } from './call-model.ts'
import type { SessionHistory } from './session-history.ts'

/** How long a summary may take. A failed compaction changes nothing. */
const MAX_COMPACTION_MS = 180_000
const MAX_GOAL_CHARS = 4_000

export type Compacted = { readonly type: 'compacted' | 'stopped' } | TurnFailure

/** Replaces the history of a session by a summary and its last entries, in a segment of its own. */
export class SessionCompactor {
  readonly #ledger: AgentLedger
  readonly #parts: AgentParts
  readonly #history: SessionHistory
  readonly #caller: ModelCaller
  readonly #context: AgentContext

  constructor(
    ledger: AgentLedger,
    parts: AgentParts,
    history: SessionHistory,
    caller: ModelCaller,
    context: AgentContext,
  ) {
    this.#ledger = ledger
    this.#parts = parts
    this.#history = history
    this.#caller = caller
    this.#context = context
  }

  async compact(record: ProcessRecord, at: CallPlace, signal: AbortSignal): Promise<Compacted> {
    const model = await this.#caller.open(record, this.#caller.modelsOf(record)[0] ?? '')
    if ('reason' in model) return model
    const purpose = 'compaction'
    await this.#ledger.act({ type: 'begin_call', ...at, model: model.id, purpose })
    const { items } = await this.#history.prompt()
    const request = summaryRequest(transcriptOf(items, model.facts.contextWindow))
    const abortSignal = AbortSignal.any([signal, AbortSignal.timeout(MAX_COMPACTION_MS)])
    const answer = await model.call(request, { abortSignal })
    if (signal.aborted) {
      await this.#caller.chargeStopped(at, model, request, answer)
      return { type: 'stopped' }
    }
    const usage = 'usage' in answer ? answer.usage : undefined
    if (answer.type !== 'answered') {
      await this.#ledger.act({ type: 'cut_call', ...at, why: answer.type })
      // Its time was over.
      if (answer.type === 'aborted') await this.#caller.chargeStopped(at, model, request, answer)
      else if (usage !== undefined) await this.#caller.charge(at, model, usage)
      const message = 'failure' in answer ? answer.failure.message : `The summary was ${answer.type}.`
      return {
        type: 'failed',
        reason: 'provider_error',
        message: `The session was not shortened: ${message}`,
      }
    }
    const said = answer.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
    if (said.trim() === '') {
      await this.#ledger.act({ type: 'cut_call', ...at, why: 'empty summary' })
      if (usage !== undefined) await this.#caller.charge(at, model, usage)
      return {
        type: 'failed',
        reason: 'invalid_output',
        message: 'The session was not shortened: the model answered with an empty summary.',
      }
    }
    const goal = this.#history.summarisedGoal ?? goalIn(items)
    const loaded = loadedSkills(items, this.#history.summarisedSkills)
    const skills = await this.#parts.toolbox.skillTexts(record, loaded)
    const kept = keptSkillsText(skills.map(({ name, text }) => ({ name, text: this.#parts.mask(text) })))
    const summary = { type: 'summary', text: summaryText(said, goal), goal }
    const keptParts =
      kept === ''
        ? []
        : [
            { type: 'summary', text: kept },
            { type: 'skills', names: skills.map(({ name }) => name) },
          ]
    const entries = await this.#history.wholeEntries()
    const keepsFrom = firstKept(entries, await this.#history.promoted())
    await this.#context.beginSegment(record, {
      turn: at.turn,
      why: 'compaction',
      keepsFrom,
      // Without a kept entry the segment begins behind the call that summarised the session.
      keeps: callOf(entries, keepsFrom) ?? at,
      parts: [...(await this.#context.partsNow(record)), summary, ...keptParts],
    })
    if (usage !== undefined) await this.#caller.charge(at, model, usage)
    return { type: 'compacted' }
  }
}

function summaryRequest(transcript: string): ModelRequest {
  return {
    system: COMPACTION_SYSTEM,
    prompt: [{ type: 'user', parts: [{ type: 'text', text: compactionRequest(transcript) }] }],
    tools: [],
    settings: { maxOutputTokens: RESERVED_TOKENS },
  }
}

/** The first request, as far as a summary repeats it. */
function goalIn(items: readonly PromptItem[]): string {
  const first = items.find((item) => item.type === 'user')
  const text = first?.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n') ?? ''
  return text.slice(0, MAX_GOAL_CHARS)
}
