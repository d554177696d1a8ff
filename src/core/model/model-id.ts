import { isObject } from '../../base/is-object.ts'
import type { ModelName } from './prompt.ts'

/** `anthropic/claude-opus-5-5`: the provider, a slash, and the provider's own name, which may contain slashes. */
export function parseModelId(id: string): ModelName | undefined {
  const slash = id.indexOf('/')
  if (slash <= 0 || slash === id.length - 1) return undefined
  return { provider: id.slice(0, slash), model: id.slice(slash + 1) }
}

/** The name that a model object of the AI SDK gives itself; undefined if it is none. `anthropic.messages` is the provider `anthropic`. */
export function nameOfObject(value: unknown): ModelName | undefined {
  if (!isObject(value)) return undefined
  const { provider, modelId } = value
  if (typeof provider !== 'string' || typeof modelId !== 'string') return undefined
  const [first = provider] = provider.split('.')
  return { provider: first, model: modelId }
}

export function modelIdOf({ provider, model }: ModelName): string {
  return `${provider}/${model}`
}
