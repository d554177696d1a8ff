import {
  COMPACTION_SYSTEM,
  compactionRequest,
  compactionSizes,
  firstKept,
  shorterTranscript,
  summaryText,
  transcriptOf,
} from '../core/agent/compaction.ts'
import { callOf } from '../core/agent/segment-calls.ts'
import { keptSkillsText, loadedSkills } from '../core/agent/skills.ts'
import type { CallAnswer, Usage } from '../core/model/answer.ts'
import { estimateRequest } from '../core/model/estimate.ts'
import { NO_PROGRESS } from '../core/model/next-step.ts'
import type { ModelRequest, PromptItem } from '../core/model/prompt.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { AgentContext } from './agent-context.ts'
import type { AgentLedger } from './agent-ledger.ts'
import type { AgentParts } from './agent-parts.ts'
import { askModel, sumOfUses } from './ask-model.ts'
import { type CallPlace, failureOf, type ModelCaller, type TurnFailure } from './call-model.ts'
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

  /** `overflowed`: the estimated tokens of the request that did not fit. */
  async compact(
    record: ProcessRecord,
    at: CallPlace,
    { signal, overflowed }: { readonly signal: AbortSignal; readonly overflowed?: number },
  ): Promise<Compacted> {
    const opened = await this.#caller.openFrom(record, 0)
    if ('reason' in opened) return opened
    const { model } = opened
    const purpose = 'compaction'
    const begun = await this.#ledger.act({ type: 'begin_call', ...at, model: model.id, purpose })
    // Nothing is left of a limit: the turn has ended instead.
    if (begun.agent?.turn?.call?.number !== at.call) return { type: 'stopped' }
    const whole = await this.#caller.request(record)
    const window = {
      contextWindow: model.facts.contextWindow,
      reasons: model.facts.features.reasoning,
      fixed: estimateRequest({ ...whole, prompt: [] }),
    }
    const summarised = await this.#summarise(record, at, { items: whole.prompt, window, overflowed, signal })
    if (summarised.type !== 'summarised') return summarised
    const { said, keptTokens, charge } = summarised
    const items = whole.prompt
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
    const keepsFrom = firstKept(entries, await this.#history.promoted(), keptTokens)
    await this.#context.beginSegment(record, {
      turn: at.turn,
      why: 'compaction',
      keepsFrom,
      // Without a kept entry the segment begins behind the call that summarised the session.
      keeps: callOf(entries, keepsFrom) ?? at,
      parts: [...(await this.#context.partsNow(record)), summary, ...keptParts],
    })
    await charge()
    return { type: 'compacted' }
  }

  /** A model that does not take the transcript is asked again with half of it, until one fits. */
  async #summarise(
    record: ProcessRecord,
    at: CallPlace,
    { items, window, overflowed: given, signal: stop }: Summarising,
  ): Promise<Summarised> {
    const signal = AbortSignal.any([stop, AbortSignal.timeout(MAX_COMPACTION_MS)])
    let overflowed = given
    let used: Usage | undefined
    let most = compactionSizes({ ...window, overflowed }).transcriptChars
    for (;;) {
      const { summaryTokens, keptTokens } = compactionSizes({ ...window, overflowed })
      const transcript = transcriptOf(items, most)
      const request = summaryRequest(transcript, summaryTokens)
      const asked = await askModel({ ledger: this.#ledger, caller: this.#caller }, record, at, {
        request,
        signal,
      })
      if (asked.type === 'failed') {
        await this.#ledger.act({ type: 'cut_call', ...at, why: 'failed' })
        return notShortened(asked.reason, asked.message)
      }
      const { answer, model, text } = asked
      const usage = sumOfUses(used, asked.usage)
      used = usage
      const charge = async () => {
        if (usage !== undefined) await this.#caller.charge(at, model, usage)
      }
      if (stop.aborted) {
        await this.#caller.chargeStopped(at, model, asked.request, answer)
        return { type: 'stopped' }
      }
      if (answer.type === 'answered' && text.trim() !== '')
        return { type: 'summarised', said: text, keptTokens, charge }
      const tokens = estimateRequest(asked.request) + summaryTokens
      const shorter = answer.type === 'overflow' ? shorterTranscript(transcript.length) : null
      if (shorter !== null) {
        overflowed = Math.min(overflowed ?? tokens, tokens)
        most = shorter
        const failure = {
          message: `The request for the summary, about ${tokens} tokens, did not fit: it is repeated with a shorter transcript.`,
        }
        await this.#caller.retry(at, { failure, progress: NO_PROGRESS })
        continue
      }
      await this.#ledger.act({ type: 'cut_call', ...at, why: whyCut(answer) })
      // Its time was over.
      if (answer.type === 'aborted') await this.#caller.chargeStopped(at, model, asked.request, answer)
      else await charge()
      return failedSummary(answer, { id: model.id, tokens })
    }
  }
}

interface Summarising {
  readonly items: readonly PromptItem[]
  readonly window: Omit<Parameters<typeof compactionSizes>[0], 'overflowed'>
  readonly overflowed: number | undefined
  readonly signal: AbortSignal
}

type Summarised =
  | {
      readonly type: 'summarised'
      readonly said: string
      readonly keptTokens: number
      readonly charge: () => Promise<void>
    }
  | { readonly type: 'stopped' }
  | TurnFailure

function whyCut({ type }: CallAnswer): string {
  return type === 'answered' ? 'empty summary' : type
}

function failedSummary(
  answer: CallAnswer,
  { id, tokens }: { readonly id: string; readonly tokens: number },
): TurnFailure {
  switch (answer.type) {
    case 'answered':
      return notShortened('invalid_output', 'the model answered with an empty summary.')
    case 'overflow':
      return notShortened(
        'provider_error',
        `${id} did not even take a request for a summary of about ${tokens} tokens. ${windowRemedy(id)}`,
      )
    case 'failed':
    case 'cut': {
      const { reason, message } = failureOf(answer.failure)
      return notShortened(reason, message)
    }
    default:
      return notShortened('provider_error', `The summary was ${answer.type}.`)
  }
}

function notShortened(reason: TurnFailure['reason'], why: string): TurnFailure {
  return { type: 'failed', reason, message: `The session was not shortened: ${why}` }
}

/** What to do about a window that is too small, or not known. */
export function windowRemedy(id: string): string {
  return `Set the context window of the model in the configuration (models, "${id}", contextWindow), or choose a model with a larger one.`
}

function summaryRequest(transcript: string, maxOutputTokens: number): ModelRequest {
  return {
    system: COMPACTION_SYSTEM,
    prompt: [{ type: 'user', parts: [{ type: 'text', text: compactionRequest(transcript) }] }],
    tools: [],
    settings: { maxOutputTokens },
  }
}

/** The first request, as far as a summary repeats it. */
function goalIn(items: readonly PromptItem[]): string {
  const first = items.find((item) => item.type === 'user')
  const text = first?.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n') ?? ''
  return text.slice(0, MAX_GOAL_CHARS)
}
