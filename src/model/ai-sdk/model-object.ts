import type { LanguageModelV4 } from '@ai-sdk/provider'
import { isObject } from '../../base/is-object.ts'
import type { Clock } from '../../core/clock.ts'
import { nameOfObject } from '../../core/model/model-id.ts'
import { type ModelRefusal, modelRefusal } from '../../core/model/refusal.ts'
import type { Model } from '../model.ts'
import { aiSdkModel } from './ai-sdk-model.ts'
import type { Family } from './target.ts'

/** The model that a program made itself, with a provider of the AI SDK that Reeve need not know. */
export function modelOfObject(
  value: unknown,
  options: { readonly clock: Clock; readonly idleTimeoutMs: number },
): { readonly type: 'opened'; readonly model: Model } | ModelRefusal {
  if (!isLanguageModel(value))
    return modelRefusal(
      'model_unfit',
      'This is not a language model of the AI SDK 7.',
      "Pass the object that a provider makes, for example anthropic('claude-opus-5-5'), with ai 7 and its providers; or pass an id.",
    )
  const name = nameOfObject(value) ?? { provider: value.provider, model: value.modelId }
  const target = { ...name, family: familyOf(value.provider) }
  return { type: 'opened', model: aiSdkModel(value, { target, ...options }) }
}

function isLanguageModel(value: unknown): value is LanguageModelV4 {
  return (
    isObject(value) &&
    value['specificationVersion'] === 'v4' &&
    typeof value['provider'] === 'string' &&
    typeof value['modelId'] === 'string' &&
    typeof value['doStream'] === 'function'
  )
}

function familyOf(provider: string): Family {
  if (provider.startsWith('anthropic')) return 'messages'
  if (provider === 'openai.responses') return 'responses'
  return provider.endsWith('.chat') ? 'chat' : 'other'
}
