import { BoundedMap } from '../../base/bounded-map.ts'
import { messageOf } from '../../base/error-text.ts'
import type { CallAnswer } from '../../core/model/answer.ts'
import { parseModelId } from '../../core/model/model-id.ts'
import type { ModelRequest } from '../../core/model/prompt.ts'
import { failureOf } from '../call-failure.ts'
import type { CallOptions, Fragment, Model } from '../model.ts'
import { hashOf, type Recording } from './recording.ts'

/** Requests whose repetitions are counted. */
const MAX_COUNTED_REQUESTS = 10_000

/**
 * A model that answers from a recording. Calls that are not in it go to `live`, if there is one, and are recorded. It has the name of the
 * recorded model, so that a replayed session is the recorded one, signatures included. Failures are not recorded: they would repeat for ever.
 */
export function recordedModel(recording: Recording, live: Model | undefined): Model {
  const attempts = new BoundedMap<string, number>(MAX_COUNTED_REQUESTS)
  const name = live ?? parseModelId(recording.model ?? '') ?? { provider: 'record', model: recording.path }

  const record = async (request: ModelRequest, options: CallOptions, model: Model): Promise<CallAnswer> => {
    const fragments: Fragment[] = []
    const answer = await model.call(request, {
      ...options,
      onFragment: (fragment) => {
        fragments.push(fragment)
        options.onFragment?.(fragment)
      },
    })
    if (answer.type === 'failed' || answer.type === 'aborted') return answer
    try {
      await recording.add(request, { fragments, answer }, `${model.provider}/${model.model}`)
    } catch (error) {
      return {
        type: 'failed',
        failure: failureOf(
          'script',
          `The recording ${recording.path} cannot be written: ${messageOf(error)}`,
        ),
      }
    }
    return answer
  }

  return {
    provider: name.provider,
    model: name.model,
    call: async (request, options = {}) => {
      if (options.abortSignal?.aborted === true) return { type: 'aborted', parts: [] }
      const counted = `${request.cacheKey ?? ''} ${hashOf(request)}`
      const attempt = attempts.get(counted) ?? 0
      attempts.set(counted, attempt + 1)
      const calls = recording.callsOf(request)
      const recorded = calls[Math.min(attempt, calls.length - 1)]
      // A request whose last call was cut has had no answer yet.
      const isOpen = recorded?.answer.type === 'cut' && attempt >= calls.length && live !== undefined
      if (recorded !== undefined && !isOpen) {
        for (const fragment of recorded.fragments) options.onFragment?.(fragment)
        return recorded.answer
      }
      if (live !== undefined) return record(request, options, live)
      return {
        type: 'failed',
        failure: failureOf('not_recorded', `The recording ${recording.path} has no answer to this request.`),
      }
    },
  }
}
