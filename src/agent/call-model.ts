import { pause } from '../base/pause.ts'
import { hiddenMediaPart } from '../core/agent/prompt.ts'
import { ReeveError } from '../core/errors.ts'
import type { CallAnswer, Usage } from '../core/model/answer.ts'
import { promptProblem } from '../core/model/check-prompt.ts'
import { estimateRequest } from '../core/model/estimate.ts'
import { modelIdOf } from '../core/model/model-id.ts'
import { type CallProgress, type NextStep, nextStep } from '../core/model/next-step.ts'
import type { ModelRequest } from '../core/model/prompt.ts'
import { mayBeAboutMedia, shownPrompt, showsMedia } from '../core/model/shown-media.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { specOf, startSpecOf } from '../core/process/spec.ts'
import { refuseModelByRules } from '../kernel/model-rules.ts'
import type { CallWait } from '../model/model.ts'
import type { AgentLedger } from './agent-ledger.ts'
import type { AgentParts } from './agent-parts.ts'
import { LiveCall } from './live-call.ts'
import { answerItems, usageOf } from './model-answer.ts'
import { type AgentModel, openForAgent } from './open-for-agent.ts'
import type { SessionHistory } from './session-history.ts'

export interface CallPlace {
  readonly turn: number
  readonly call: number
}

/** Why a turn cannot go on. */
export interface TurnFailure {
  readonly type: 'failed'
  readonly reason: 'provider_error' | 'setup_failed' | 'refused' | 'invalid_output'
  readonly message: string
}

/** `overflow`: the prompt must become shorter. `stopped`: the turn has ended or paused meanwhile. */
export type AnswerEnd =
  | { readonly type: 'recorded' | 'stopped' }
  /** `tokens`: the estimated size of the request that did not fit. */
  | { readonly type: 'overflow'; readonly tokens: number; readonly model: string }
  | TurnFailure

interface PlacedModel {
  readonly model: AgentModel
  /** In the list of models. */
  readonly place: number
}

/** Calls the model of an agent for one answer, with retries and fallbacks, and records the answer and what it cost. */
export class ModelCaller {
  readonly #ledger: AgentLedger
  readonly #parts: AgentParts
  readonly #history: SessionHistory
  readonly #opened = new Map<string, AgentModel>()

  constructor(ledger: AgentLedger, parts: AgentParts, history: SessionHistory) {
    this.#ledger = ledger
    this.#parts = parts
    this.#history = history
  }

  /** The list of models of this agent, the preferred one first. */
  modelsOf(record: ProcessRecord): readonly string[] {
    const { model, fallbacks = [] } = specOf({ kind: record.kind, spec: startSpecOf(record) }, 'agent')
    return model === undefined ? [] : [model, ...fallbacks]
  }

  /** A model stays open until the agent is idle: a changed key counts from its next input on. A changed rule counts at once. */
  async open(record: ProcessRecord, id: string): Promise<AgentModel | TurnFailure> {
    const denied = await refuseModelByRules(this.#ledger.kernel.edges, record.pid, id, 'answered')
    if (denied !== undefined) return setupFailed(denied)
    const known = this.#opened.get(id)
    if (known !== undefined) return known
    const opened = await openForAgent(this.#parts.models, record, id)
    if (opened.type === 'refused') return setupFailed(opened)
    this.#opened.set(id, opened.model)
    return opened.model
  }

  /**
   * The first model from this place of the list on that can be opened. A fallback that cannot be used is skipped; the preferred model is
   * not, so that a person hears of it.
   */
  async openFrom(record: ProcessRecord, place: number): Promise<PlacedModel | TurnFailure> {
    const ids = this.modelsOf(record)
    let first: TurnFailure | null = null
    for (let at = Math.min(place, ids.length - 1); at < ids.length; at++) {
      const model = await this.open(record, ids[at] ?? '')
      if (!('reason' in model)) return { model, place: at }
      first ??= model
      if (at === 0) break
    }
    return first ?? setupFailed({ message: 'The agent has no model.', remedy: 'Give it one.' })
  }

  /** The request for the next answer, from the log alone. */
  async request(record: ProcessRecord): Promise<ModelRequest> {
    const { system, items, tools } = await this.#history.prompt()
    const { effort, maxOutputTokens } = specOf({ kind: record.kind, spec: startSpecOf(record) }, 'agent')
    return {
      system: system ?? '',
      prompt: items,
      tools: (tools ?? []).map(({ name, description, input }) => ({ name, description, input })),
      settings: {
        ...(effort === undefined ? {} : { effort }),
        ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
      },
      cacheKey: record.pid,
    }
  }

  /** One answer. The call has begun in the log. */
  async answer(record: ProcessRecord, at: CallPlace, signal: AbortSignal): Promise<AnswerEnd> {
    const whole = await this.request(record)
    const { hidden } = await this.#history.prompt()
    const problem = promptProblem(whole.prompt)
    if (problem !== undefined)
      return { type: 'failed', reason: 'provider_error', message: `The session is not in order. ${problem}` }
    const ids = this.modelsOf(record)
    let progress = this.#history.progressOf(at.turn)
    let last: Called | null = null
    for (;;) {
      const opened = await this.openFrom(record, progress.model)
      if ('reason' in opened) return last === null ? opened : this.#failed(last)
      const { model } = opened
      progress = { ...progress, model: opened.place }
      const request = { ...whole, prompt: shownPrompt(whole.prompt, model, hidden) }
      const answer = await this.#call(model, request, at, signal)
      if (signal.aborted) {
        await this.chargeStopped(at, model, request, answer)
        return { type: 'stopped' }
      }
      const random = this.#ledger.kernel.edges.random()
      const next = nextStep({ answer, progress, models: ids.length, random })
      last = { answer, model, request, at, signal }
      const end = await this.#after(next, last)
      if (end !== null) return end
      if ('progress' in next) progress = next.progress
    }
  }

  async #call(
    model: AgentModel,
    request: ModelRequest,
    at: CallPlace,
    signal: AbortSignal,
  ): Promise<CallAnswer> {
    const live = new LiveCall(this.#parts.live, this.#ledger, at)
    const abortSignal = AbortSignal.any([signal, live.refused])
    let waiting: Promise<unknown> = Promise.resolve()
    const answer = await model.call(request, {
      abortSignal,
      onFragment: (fragment) => live.append(fragment),
      onWait: (wait) => {
        waiting = this.#reportWait(at, wait)
      },
    })
    await waiting
    await live.close()
    return answer
  }

  /** The limiter holds the call back. The session says so: it looks like a hanging model otherwise. */
  async #reportWait(at: CallPlace, wait: CallWait): Promise<void> {
    const { turn, call } = at
    const message =
      wait.type === 'pause'
        ? `The provider asked for a pause: the call is sent at ${new Date(wait.until).toISOString()}.`
        : `The provider is busy with other calls of this program; ${wait.ahead} wait before this one.`
    try {
      await this.#ledger.act({ type: 'alert', turn, alert: 'model_waits', message, key: `wait:${call}` })
    } catch (error) {
      // The turn may be over. Anything else shows at the next write.
      if (!(error instanceof ReeveError)) throw error
    }
  }

  /** Null: the call is sent again. */
  async #after(next: NextStep, called: Called): Promise<AnswerEnd | null> {
    const { answer, at, signal } = called
    if (hasRefusedMedia(next, called)) return this.#hideMedia(called)
    switch (next.type) {
      case 'use':
        await this.#record(called, answer.type === 'answered' ? answer.parts : [])
        return { type: 'recorded' }
      case 'retry':
      case 'fall_back':
        await this.retry(at, next)
        await pause(this.#ledger.kernel.edges.clock, 'delayMs' in next ? next.delayMs : 0, signal)
        return signal.aborted ? { type: 'stopped' } : null
      case 'continue':
        await this.retry(at, next)
        await this.#continue(called)
        await pause(this.#ledger.kernel.edges.clock, next.delayMs, signal)
        return { type: 'recorded' }
      case 'compact':
        await this.#cutAndCharge(called, 'overflow')
        return { type: 'overflow', tokens: estimateRequest(called.request), model: called.model.id }
      case 'give_up':
        return this.#giveUp(next.reason, called)
    }
  }

  async #giveUp(
    reason: Extract<NextStep, { type: 'give_up' }>['reason'],
    called: Called,
  ): Promise<AnswerEnd> {
    if (reason.type === 'aborted') return { type: 'stopped' }
    await this.#cutAndCharge(called, reason.type)
    if (reason.type === 'refused') return { type: 'failed', reason: 'refused', message: reason.message }
    return failureOf(reason.failure)
  }

  /** The call failed, and no fallback could be opened. */
  async #failed(called: Called): Promise<TurnFailure> {
    const { answer } = called
    await this.#cutAndCharge(called, answer.type)
    const failure = 'failure' in answer ? answer.failure : { message: answer.type, remedy: '' }
    return failureOf(failure)
  }

  /**
   * The provider does not take a picture or a document of the prompt, as it seems: the call is made again without them. The log says so,
   * because all later prompts of this model must leave them out as well.
   */
  async #hideMedia(called: Called): Promise<AnswerEnd> {
    const { answer, model, at } = called
    const said = 'failure' in answer ? answer.failure.message : ''
    const text = `The provider of ${model.id} refused the request, which had images or documents: ${said} They are left out of its prompts from here on.`
    await this.#cutAndCharge(called, 'images or documents refused')
    await this.#ledger.act({
      type: 'add_system_item',
      turn: at.turn,
      kind: 'note',
      parts: [{ type: 'text', text: this.#parts.mask(text) }, hiddenMediaPart(model.id)],
      key: `media:${at.call}`,
    })
    return { type: 'recorded' }
  }

  /** The next request says where the answer broke. Complete tool calls are executed: their results show how far the answer got. */
  async #continue(called: Called): Promise<void> {
    const { answer } = called
    const parts = answer.type === 'cut' ? answer.parts : []
    if (parts.length > 0) await this.#record(called, parts, CUT_NOTE)
    else await this.#cutAndCharge(called, 'broken stream')
  }

  async #record(called: Called, parts: Parameters<typeof answerItems>[0], note?: string): Promise<void> {
    const { model, at } = called
    const { items, blobs } = answerItems(parts)
    const told = note === undefined ? {} : { note }
    await this.#ledger.act({ type: 'record_answer', ...at, model: modelIdOf(model), items, ...told }, blobs)
    await this.#chargeKnown(called)
  }

  async #cutAndCharge(called: Called, why: string): Promise<void> {
    await this.#cut(called.at, why)
    await this.#chargeKnown(called)
  }

  /** A call without any usage cost nothing: the provider did not begin. */
  async #chargeKnown({ answer, model, at }: Called): Promise<void> {
    if ('usage' in answer && answer.usage !== undefined) await this.charge(at, model, answer.usage)
  }

  async charge(at: CallPlace, model: AgentModel, usage: Usage): Promise<void> {
    const { act, amounts } = usageOf(at, model, usage)
    await this.#ledger.charge(act, amounts)
  }

  /** The cost of a call of an earlier holder is unknown, so it is estimated. */
  async chargeEstimate(record: ProcessRecord, at: CallPlace): Promise<void> {
    const id = this.#history.idOf(at.turn, at.call) ?? this.modelsOf(record)[0] ?? ''
    const model = await this.open(record, id)
    if ('reason' in model) return
    const usage = { ...NO_USAGE, inputTokens: estimateRequest(await this.request(record)) }
    await this.charge(at, model, usage)
  }

  /** The provider worked for a stopped call, whether or not the turn is there to hear it. A lost lease charges nothing: the next holder does. */
  async chargeStopped(
    at: CallPlace,
    model: AgentModel,
    request: ModelRequest,
    answer: CallAnswer,
  ): Promise<void> {
    if (this.#ledger.work.signal.aborted) return
    const known = 'usage' in answer ? answer.usage : undefined
    await this.charge(at, model, known ?? { ...NO_USAGE, inputTokens: estimateRequest(request) })
  }

  async retry(at: CallPlace, next: { readonly progress: CallProgress } & Failed): Promise<void> {
    const retryAt = this.#ledger.now() + (next.delayMs ?? 0)
    const { message } = next.failure
    await this.#ledger.act({
      type: 'retry_call',
      ...at,
      failure: this.#parts.mask(message),
      retryAt,
      progress: { ...next.progress },
    })
  }

  async #cut(at: CallPlace, why: string): Promise<void> {
    await this.#ledger.act({ type: 'cut_call', ...at, why })
  }
}

interface Called {
  readonly answer: CallAnswer
  readonly model: AgentModel
  readonly request: ModelRequest
  readonly at: CallPlace
  readonly signal: AbortSignal
}

interface Failed {
  readonly failure: { readonly message: string }
  readonly delayMs?: number
}

const CUT_NOTE =
  'The connection broke while you were answering. The text above is what arrived. Continue exactly where it ends, without repeating it.'

const NO_USAGE: Usage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  isEstimate: true,
}

function setupFailed({
  message,
  remedy,
}: {
  readonly message: string
  readonly remedy: string
}): TurnFailure {
  return { type: 'failed', reason: 'setup_failed', message: `${message} ${remedy}`.trim() }
}

export function failureOf(failure: {
  readonly message: string
  readonly remedy: string
  readonly kind?: string
}) {
  if (failure.kind === 'key_missing') return setupFailed(failure)
  const message = `${failure.message} ${failure.remedy}`.trim()
  return { type: 'failed', reason: 'provider_error', message } as const
}

/** Other failures are retried first, and a fallback is another matter: it may take what this model does not. */
function hasRefusedMedia(next: NextStep, { answer, request }: Called): boolean {
  const isOver = next.type === 'give_up' || next.type === 'fall_back'
  return isOver && answer.type === 'failed' && mayBeAboutMedia(answer.failure) && showsMedia(request.prompt)
}
