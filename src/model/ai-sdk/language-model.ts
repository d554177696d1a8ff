import type { LanguageModelV4 } from '@ai-sdk/provider'
import { guardedFetch } from './guarded-fetch.ts'
import type { Family } from './target.ts'

/** The APIs that Reeve speaks. */
type ProviderType = 'anthropic' | 'openai' | 'openai-compatible'

export const FAMILIES: Readonly<Record<ProviderType, Family>> = {
  anthropic: 'messages',
  openai: 'responses',
  'openai-compatible': 'chat',
}

export interface LanguageModelOptions {
  readonly type: ProviderType
  readonly provider: string
  readonly model: string
  readonly baseURL: string
  /** Servers on this machine need none. */
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A model of the AI SDK. Each provider's package is loaded when its first model is used. Nothing is read from `process.env`. */
export async function languageModel(options: LanguageModelOptions): Promise<LanguageModelV4> {
  const { type, provider, model, baseURL, key, headers = {} } = options
  const shared = { baseURL, headers: { ...headers }, fetch: guardedFetch }
  switch (type) {
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      return createAnthropic({ ...shared, apiKey: key ?? '' })(model)
    }
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai')
      return createOpenAI({ ...shared, apiKey: key ?? '' })(model)
    }
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
      const named = { ...shared, name: provider, includeUsage: true }
      return createOpenAICompatible(key === undefined ? named : { ...named, apiKey: key })(model)
    }
  }
}
