import type { LanguageModelV4, LanguageModelV4StreamResult } from '@ai-sdk/provider'
import type { Clock } from '../../core/clock.ts'
import type { CallAnswer, CallFailure, Usage } from '../../core/model/answer.ts'
import { promptProblem } from '../../core/model/check-prompt.ts'
import { estimateUsage } from '../../core/model/estimate.ts'
import { modelIdOf } from '../../core/model/model-id.ts'
import type { ModelRequest } from '../../core/model/prompt.ts'
import { AnswerBuilder } from '../answer-builder.ts'
import { failureOf } from '../call-failure.ts'
import type { CallOptions, Model } from '../model.ts'
import { callOptions } from './call-options.ts'
import { collect, type StreamEnd } from './collect.ts'
import { troubleOf } from './failure.ts'
import { StreamStop } from './stream-stop.ts'
import type { Target } from './target.ts'

export interface AiSdkModelOptions {
  readonly target: Target
  readonly clock: Clock
  /** A stream that brings nothing for so long counts as broken. */
  readonly idleTimeoutMs: number
  /** Must not occur in messages. */
  readonly key?: string
}

/**
 * A model of the AI SDK, by the interface that its providers implement. One call is one request: this interface has neither a tool loop nor
 * retries, and hands out tool calls as they came.
 */
export function aiSdkModel(languageModel: LanguageModelV4, options: AiSdkModelOptions): Model {
  const { provider, model } = options.target
  return {
    provider,
    model,
    call: async (request, callerOptions = {}) => {
      if (callerOptions.abortSignal?.aborted === true) return { type: 'aborted', parts: [] }
      const problem = promptProblem(request.prompt)
      if (problem !== undefined)
        return {
          type: 'failed',
          failure: failureOf('invalid_request', `The prompt is not in order. ${problem}`),
        }
      return new Call(languageModel, options, request, callerOptions).run()
    },
  }
}

class Call {
  readonly #languageModel: LanguageModelV4
  readonly #options: AiSdkModelOptions
  readonly #request: ModelRequest
  readonly #answer: AnswerBuilder
  readonly #stop: StreamStop
  readonly #end: StreamEnd = { warnings: [] }

  constructor(
    languageModel: LanguageModelV4,
    options: AiSdkModelOptions,
    request: ModelRequest,
    callerOptions: CallOptions,
  ) {
    this.#languageModel = languageModel
    this.#options = options
    this.#request = request
    this.#answer = new AnswerBuilder(request, callerOptions)
    this.#stop = new StreamStop(options.clock, options.idleTimeoutMs, callerOptions.abortSignal)
  }

  async run(): Promise<CallAnswer> {
    try {
      await this.#read(await this.#open())
    } catch (error) {
      this.#end.error ??= { thrown: error }
    } finally {
      this.#stop.dispose()
    }
    return this.#answerOf()
  }

  async #open(): Promise<LanguageModelV4StreamResult> {
    const options = callOptions(this.#request, this.#options.target)
    return this.#stop.race(this.#languageModel.doStream({ ...options, abortSignal: this.#stop.signal }))
  }

  async #read({ stream }: LanguageModelV4StreamResult): Promise<void> {
    const reader = stream.getReader()
    this.#stop.onStop(() => void reader.cancel().catch(() => {}))
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        this.#stop.touch()
        if (!collect(next.value, this.#answer, this.#end)) return
      }
    } finally {
      // A stream that is left open would keep its connection.
      reader.cancel().catch(() => {})
    }
  }

  #answerOf(): CallAnswer {
    const { finish, error, rawFinish } = this.#end
    if (this.#stop.reason === 'aborted') return this.#aborted()
    if (this.#stop.reason === 'idle') {
      const ms = this.#options.idleTimeoutMs
      return this.#broken(failureOf('timeout', `${this.#id} sent nothing for ${ms} ms.`))
    }
    if (error !== undefined) return this.#afterError(error.thrown)
    const parts = this.#answer.whole()
    const usage = this.#usage(parts)
    switch (finish) {
      case undefined:
      case 'interrupted':
      case 'error':
        return this.#broken(
          failureOf('invalid_answer', `${this.#id} ended its stream before the answer was complete.`),
        )
      case 'content_filter':
        return {
          type: 'refused',
          parts: this.#answer.complete(),
          usage,
          message: `${this.#id} refused to answer.`,
        }
      default:
        if (rawFinish === 'model_context_window_exceeded')
          return {
            type: 'overflow',
            usage,
            message: `${this.#id}: the answer did not fit into the context window.`,
          }
        return {
          type: 'answered',
          parts,
          finish,
          ...(rawFinish !== undefined && { rawFinish }),
          usage,
          warnings: this.#end.warnings,
        }
    }
  }

  #aborted(): CallAnswer {
    const parts = this.#answer.complete()
    const isCharged = this.#answer.hasBegun || this.#end.inputUsage !== undefined
    return isCharged
      ? { type: 'aborted', parts, usage: this.#usage(this.#answer.whole()) }
      : { type: 'aborted', parts }
  }

  #afterError(thrown: unknown): CallAnswer {
    const { target, clock, key } = this.#options
    const trouble = troubleOf(thrown, target, { now: clock.now(), key })
    if (trouble.type === 'overflow') return trouble
    const { failure } = trouble
    if (failure.kind !== 'answer_too_large') return this.#broken(failure)
    return { type: 'failed', failure, usage: this.#usage(this.#answer.whole()) }
  }

  #broken(failure: CallFailure): CallAnswer {
    if (!this.#answer.hasBegun) return { type: 'failed', failure }
    return { type: 'cut', parts: this.#answer.complete(), usage: this.#usage(this.#answer.whole()), failure }
  }

  /** The usage that the provider reported. Missing numbers are estimated from the content that arrived. */
  #usage(parts: Parameters<typeof estimateUsage>[1]): Usage {
    return this.#end.usage ?? { ...estimateUsage(this.#request, parts), ...this.#end.inputUsage }
  }

  get #id(): string {
    return modelIdOf(this.#options.target)
  }
}
