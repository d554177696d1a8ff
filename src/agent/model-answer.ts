import type { AnswerItem } from '../core/agent/act.ts'
import type { Part } from '../core/agent/state.ts'
import { asJson } from '../core/json/json.ts'
import type { Usage } from '../core/model/answer.ts'
import { modelIdOf } from '../core/model/model-id.ts'
import { chargeFor, costOf } from '../core/model/price.ts'
import type { AssistantPart } from '../core/model/prompt.ts'
import type { BlobContent } from '../kernel/blobs.ts'
import type { AgentModel } from './open-for-agent.ts'
import { storeParts } from './parts/stored-parts.ts'

/** The parts of an answer as entries, each part one entry. */
export function answerItems(parts: readonly AssistantPart[]): {
  readonly items: readonly AnswerItem[]
  readonly blobs: readonly BlobContent[]
} {
  const blobs: BlobContent[] = []
  const items = parts.flatMap((part): AnswerItem[] => {
    const stored = storeParts([asJson(part) as Part])
    blobs.push(...stored.blobs)
    if (part.type !== 'tool_call') return [{ type: 'item', parts: stored.parts }]
    const { callId, tool, isProviderExecuted } = part
    const executed = isProviderExecuted === true ? { isProviderExecuted } : {}
    return [{ type: 'tool_call', callId, tool, parts: stored.parts, ...executed }]
  })
  return { items, blobs }
}

/** The use of one call, as it is recorded and charged. */
export function usageOf(
  at: { readonly turn: number; readonly call: number },
  model: AgentModel,
  usage: Usage,
) {
  const cost = costOf(usage, model.facts.price)
  const { inputTokens, cachedInputTokens, outputTokens, isEstimate } = usage
  return {
    act: {
      type: 'record_usage',
      ...at,
      model: modelIdOf(model),
      inputTokens,
      cachedInputTokens,
      outputTokens,
      cost: cost.type === 'known' ? cost.microUsd / 1e6 : null,
      isEstimate,
    },
    amounts: chargeFor(usage, cost),
  } as const
}
