import type { Json } from '../../src/core/json/json.ts'
import type { ToolContext } from '../../src/verbs/tool-function.ts'
import type { ScriptHost } from './script.ts'

const ENDINGS = [
  ['approve', 5],
  ['deny', 2],
  ['unsure', 1],
  ['unclear', 1],
  ['throw', 1],
  ['hang', 0.7],
  ['die', 0.7],
] as const

/** A process that decides about a request instead of a person, or fails to. */
export async function runReview({ abortSignal }: ToolContext, host: ReviewHost): Promise<Json> {
  const { stage } = host
  for (let turns = stage.random.between(0, 2); turns > 0; turns--) await host.turn()
  const [ending] = stage.random.weighted(ENDINGS, ([, weight]) => weight)
  switch (ending) {
    case 'unclear':
      return { decision: 'perhaps' }
    case 'throw':
      throw new Error('The reviewer broke')
    case 'hang':
      return new Promise((_resolve, reject) => {
        const stop = () => reject(abortSignal.reason as Error)
        if (abortSignal.aborted) stop()
        abortSignal.addEventListener('abort', stop)
      })
    case 'die':
      if (!stage.faulty) return { decision: 'unsure' }
      stage.counts.fault('an executor kills its kernel')
      host.die('by its executor')
      return new Promise(() => {})
    default:
      return { decision: ending }
  }
}

type ReviewHost = Pick<ScriptHost, 'stage' | 'turn' | 'die'>
