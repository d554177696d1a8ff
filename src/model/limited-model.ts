import type { CallAnswer } from '../core/model/answer.ts'
import { modelIdOf } from '../core/model/model-id.ts'
import { MAX_WAIT_MS } from '../core/model/next-step.ts'
import { failureOf } from './call-failure.ts'
import type { Limiter } from './limiter.ts'
import type { Model } from './model.ts'

/** A model whose calls take turns with all others of its provider and key. */
export function limitedModel(
  model: Model,
  {
    limiter,
    key,
    maxConcurrent,
  }: { readonly limiter: Limiter; readonly key: string; readonly maxConcurrent: number },
): Model {
  return {
    provider: model.provider,
    model: model.model,
    call: async (request, options = {}) => {
      const admission = await limiter.admit(key, model.model, {
        maxConcurrent,
        maxPauseMs: MAX_WAIT_MS,
        ...options,
      })
      switch (admission.type) {
        case 'aborted':
          return { type: 'aborted', parts: [] }
        case 'full':
          return { type: 'failed', failure: failureOf('busy', `Too many calls wait for ${model.provider}.`) }
        case 'paused': {
          const { retryAfterMs } = admission
          const message = `${modelIdOf(model)}: the provider asked for a pause of ${Math.ceil(retryAfterMs / 1_000)} more seconds.`
          return { type: 'failed', failure: failureOf('rate_limited', message, { retryAfterMs }) }
        }
        case 'admitted':
          try {
            const answer = await model.call(request, options)
            const pauseMs = pauseAfter(answer)
            if (pauseMs > 0) limiter.pause(key, model.model, pauseMs)
            return answer
          } finally {
            admission.release()
          }
      }
    },
  }
}

function pauseAfter(answer: CallAnswer): number {
  if (answer.type !== 'failed' && answer.type !== 'cut') return 0
  const { kind, retryAfterMs = 0 } = answer.failure
  return kind === 'rate_limited' || kind === 'overloaded' ? retryAfterMs : 0
}
