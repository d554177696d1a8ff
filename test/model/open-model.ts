import type { Clock } from '../../src/core/clock.ts'
import type { ModelRequest, ToolDeclaration } from '../../src/core/model/prompt.ts'
import type { Fragment, Model } from '../../src/model/model.ts'
import { Models } from '../../src/model/models.ts'
import { modelOptions } from '../../src/model/options.ts'
import { systemClock } from '../../src/store/system-clock.ts'

/** A model of a server on loopback. */
export async function openModel(
  type: 'anthropic' | 'openai' | 'openai-compatible',
  url: string,
  {
    clock = systemClock,
    model = 'm',
    options = {},
  }: { readonly clock?: Clock; readonly model?: string; readonly options?: object } = {},
): Promise<Model> {
  const models = new Models(
    modelOptions.parse({
      providers: { local: { type, baseURL: `${url}/v1`, key: { secret: 'LOCAL_KEY' }, ...options } },
    }),
    { clock, keys: () => ({ secrets: { LOCAL_KEY: 'sk-local-test-key' }, env: {} }) },
  )
  const opened = await models.open(`local/${model}`, '/')
  if (opened.type === 'refused') throw new Error(opened.message)
  return opened.model
}

const ADD: ToolDeclaration = {
  name: 'add',
  description: 'Adds two numbers',
  input: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  },
}

/** A request with one user text. */
export function ask(text: string, more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    system: 'Be brief.',
    prompt: [{ type: 'user', parts: [{ type: 'text', text }] }],
    tools: [ADD],
    ...more,
  }
}

/** Collects fragments. */
export function watch(): {
  readonly fragments: Fragment[]
  readonly onFragment: (fragment: Fragment) => void
} {
  const fragments: Fragment[] = []
  return { fragments, onFragment: (fragment) => fragments.push(fragment) }
}
