/** The model of each provider that an agent gets if none is named, by the variable with the provider's key. */
export const MODEL_BY_KEY = {
  ANTHROPIC_API_KEY: 'anthropic/claude-opus-5-5',
  OPENAI_API_KEY: 'openai/gpt-6.1-sol',
  GEMINI_API_KEY: 'google/gemini-3-pro',
} as const

export type KeyName = keyof typeof MODEL_BY_KEY

export const KEY_NAMES: readonly KeyName[] = ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY']

/** What a program knows of models for which none is named. */
export interface ModelDefaults {
  /** The model that an agent gets; absent if no key of a provider is there. */
  readonly model?: string
  /** The keys of providers that this program can read. */
  readonly keys: readonly KeyName[]
}

/** The model of an agent for which none is named: that of REEVE_MODEL, or that of the first provider whose key is there. */
export function defaultModel(
  reeveModel: string | undefined,
  hasKey: (name: KeyName) => boolean,
): string | undefined {
  if (reeveModel !== undefined && reeveModel !== '') return reeveModel
  const found = KEY_NAMES.find(hasKey)
  return found === undefined ? undefined : MODEL_BY_KEY[found]
}
