import type { ModelName } from './prompt.ts'

/** `anthropic/claude-opus-5-5`: the provider, a slash, and the provider's own name, which may contain slashes. */
export function parseModelId(id: string): ModelName | undefined {
  const slash = id.indexOf('/')
  if (slash <= 0 || slash === id.length - 1) return undefined
  return { provider: id.slice(0, slash), model: id.slice(slash + 1) }
}

export function modelIdOf({ provider, model }: ModelName): string {
  return `${provider}/${model}`
}
