import { BoundedMap } from '../../base/bounded-map.ts'
import { pause } from '../../base/pause.ts'
import type { Clock } from '../../core/clock.ts'
import type { CallAnswer, CallFailure, Usage } from '../../core/model/answer.ts'
import { promptProblem } from '../../core/model/check-prompt.ts'
import { estimateUsage } from '../../core/model/estimate.ts'
import type { AssistantPart, ModelRequest } from '../../core/model/prompt.ts'
import { AnswerBuilder, AnswerTooLarge } from '../answer-builder.ts'
import { failureOf } from '../call-failure.ts'
import { kindOfStatus } from '../kind-of-status.ts'
import type { CallOptions, Model } from '../model.ts'
import { chooseAnswer } from './choose-answer.ts'
import type { Reaction, Script, ScriptedPart } from './script.ts'

/** Answers whose tries are counted: those of a few sessions that run at the same time matter. */
const MAX_COUNTED_ANSWERS = 10_000
/** Characters of a fragment: about what providers send. */
const FRAGMENT_CHARS = 12

/**
 * Plays a script. The position in the script follows from the request alone, so that a session continues after a restart; only the tries of one
 * answer are counted in memory.
 */
export function scriptedModel(
  script: Script,
  { name, clock }: { readonly name: string; readonly clock: Clock },
): Model {
  const tries = new BoundedMap<string, number>(MAX_COUNTED_ANSWERS)
  return {
    provider: 'scripted',
    model: name,
    call: async (request, options = {}) => {
      if (options.abortSignal?.aborted === true) return { type: 'aborted', parts: [] }
      const problem = promptProblem(request.prompt)
      if (problem !== undefined)
        return failed(failureOf('invalid_request', `The prompt is not in order. ${problem}`))
      const chosen = chooseAnswer(script, request)
      if (chosen === undefined) return failed(failureOf('script', `The script ${name} has no more answers.`))
      const counted = `${request.cacheKey ?? ''} ${chosen.key}`
      const attempt = tries.get(counted) ?? 0
      tries.set(counted, attempt + 1)
      const reaction = chosen.reactions[Math.min(attempt, chosen.reactions.length - 1)]
      if (reaction === undefined)
        return failed(failureOf('script', `The script ${name} has an answer without tries.`))
      return new Performance(reaction, request, options, clock).run()
    },
  }
}

class Performance {
  readonly #reaction: Reaction
  readonly #request: ModelRequest
  readonly #options: CallOptions
  readonly #clock: Clock
  readonly #answer: AnswerBuilder

  constructor(reaction: Reaction, request: ModelRequest, options: CallOptions, clock: Clock) {
    this.#reaction = reaction
    this.#request = request
    this.#options = options
    this.#clock = clock
    this.#answer = new AnswerBuilder(request, options)
  }

  async run(): Promise<CallAnswer> {
    try {
      return await this.#play()
    } catch (error) {
      if (!(error instanceof AnswerTooLarge)) throw error
      const failure = failureOf('answer_too_large', error.message)
      return { type: 'failed', failure, usage: this.#usage(this.#answer.whole()) }
    }
  }

  async #play(): Promise<CallAnswer> {
    const reaction = this.#reaction
    await this.#wait(reaction.afterMs)
    if (this.#isAborted) return this.#aborted()
    if ('fail' in reaction) return failed(scriptedFailure(reaction.fail))
    if ('overflow' in reaction) return { type: 'overflow', message: reaction.overflow }
    if ('refuse' in reaction)
      return { type: 'refused', parts: [], usage: this.#usage([]), message: reaction.refuse }
    const parts = 'cut' in reaction ? reaction.cut : reaction.parts
    for (const [index, part] of parts.entries()) {
      const isHalf = 'cut' in reaction && index === parts.length - 1
      if (!(await this.#perform(part, index, isHalf))) return this.#aborted()
    }
    if ('cut' in reaction) return this.#cut()
    const whole = this.#answer.whole()
    const hasCalls = whole.some(({ type }) => type === 'tool_call')
    const finish = reaction.finish ?? (hasCalls ? 'tool_calls' : 'stop')
    return { type: 'answered', parts: whole, finish, usage: this.#usage(whole), warnings: [] }
  }

  /** Returns false if the call was aborted on the way. */
  async #perform(part: ScriptedPart, index: number, isHalf: boolean): Promise<boolean> {
    const id = String(index)
    if ('text' in part) {
      if (!(await this.#inPieces(part.text, (text) => this.#answer.append('text', id, text)))) return false
      if (!isHalf) this.#answer.end('text', id)
      return true
    }
    if ('thinking' in part) {
      if (!(await this.#inPieces(part.thinking, (text) => this.#answer.append('reasoning', id, text))))
        return false
      const { signature } = part
      if (!isHalf)
        this.#answer.end('reasoning', id, signature === undefined ? undefined : { scripted: { signature } })
      return true
    }
    // Ids must differ from answer to answer: that of the provider is the position in the session.
    const callId = part.id ?? `call_${this.#request.prompt.length}_${index}`
    const text = 'arguments' in part ? part.arguments : JSON.stringify(part.input)
    this.#answer.beginCall(callId, part.tool)
    const shown = isHalf ? text.slice(0, Math.floor(text.length / 2)) : text
    if (!(await this.#inPieces(shown, (piece) => this.#answer.appendArguments(callId, piece)))) return false
    if (!isHalf) this.#answer.call({ id: callId, tool: part.tool, text })
    return true
  }

  async #inPieces(text: string, send: (piece: string) => void): Promise<boolean> {
    for (let at = 0; at < text.length; at += FRAGMENT_CHARS) {
      if (at > 0) await this.#wait(this.#reaction.fragmentMs)
      if (this.#isAborted) return false
      send(text.slice(at, at + FRAGMENT_CHARS))
    }
    return true
  }

  async #wait(ms: number): Promise<void> {
    if (ms > 0) await pause(this.#clock, ms, this.#options.abortSignal)
  }

  #cut(): CallAnswer {
    const failure = failureOf('network', 'The script cut the stream.')
    if (!this.#answer.hasBegun) return failed(failure)
    return { type: 'cut', parts: this.#answer.complete(), usage: this.#usage(this.#answer.whole()), failure }
  }

  #aborted(): CallAnswer {
    const parts = this.#answer.complete()
    return this.#answer.hasBegun
      ? { type: 'aborted', parts, usage: estimateUsage(this.#request, this.#answer.whole()) }
      : { type: 'aborted', parts }
  }

  #usage(parts: readonly AssistantPart[]): Usage {
    const given = 'usage' in this.#reaction ? this.#reaction.usage : undefined
    return given === undefined
      ? estimateUsage(this.#request, parts)
      : { ...given, cacheWriteTokens: 0, isEstimate: false }
  }

  get #isAborted(): boolean {
    return this.#options.abortSignal?.aborted === true
  }
}

function failed(failure: CallFailure): CallAnswer {
  return { type: 'failed', failure }
}

function scriptedFailure({
  status,
  kind,
  message,
  retryAfterMs,
}: Extract<Reaction, { readonly fail: unknown }>['fail']): CallFailure {
  return failureOf(
    kind ?? (status === undefined ? undefined : kindOfStatus(status)) ?? 'server_error',
    message,
    {
      ...(status !== undefined && { status }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    },
  )
}
