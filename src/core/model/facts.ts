import { nearestName } from '../../base/nearest-name.ts'
import { own } from '../json/json.ts'
import { CATALOGUE, SCRIPTED } from './catalogue.ts'
import { modelIdOf, parseModelId } from './model-id.ts'
import type { Price } from './price.ts'
import type { ModelName, UserPart } from './prompt.ts'
import { type ModelRefusal, modelRefusal } from './refusal.ts'

/** The known facts about a model. A missing number is unknown. */
export interface ModelFacts {
  /** Tokens of input and output together. */
  readonly contextWindow?: number
  readonly maxOutputTokens?: number
  readonly features: ModelFeatures
  readonly price?: Price
}

/** `undefined`: unknown, so it is tried. */
interface ModelFeatures {
  readonly images?: boolean
  readonly documents?: boolean
  readonly tools?: boolean
  readonly reasoning?: boolean
}

/** Facts of the configuration, by model id. They replace those of the catalogue, name by name. */
export type FactOverrides = Readonly<Record<string, Partial<ModelFacts>>>

/** The facts of the configuration and the catalogue together. A model that neither names has no facts, and can be used all the same. */
export function factsOf(name: ModelName, overrides: FactOverrides = {}): ModelFacts {
  const id = modelIdOf(name)
  const listed =
    name.provider === 'scripted' ? SCRIPTED : (own(CATALOGUE, id) ?? own(CATALOGUE, withoutDate(id)))
  const given = own(overrides, id)
  return { ...listed, ...given, features: { ...listed?.features, ...given?.features } }
}

/** The facts of a model that an agent calls `id`, and that gives itself `name`: those that the configuration has under the id count first. */
export function factsUnder(
  id: string,
  name: ModelName | undefined,
  overrides: FactOverrides = {},
): ModelFacts {
  const facts: ModelFacts = name === undefined ? { features: {} } : factsOf(name, overrides)
  const given = own(overrides, id)
  return { ...facts, ...given, features: { ...facts.features, ...given?.features } }
}

/** The ids that the person probably meant, the best first. */
export function nearestModels(id: string, overrides: FactOverrides = {}): readonly string[] {
  const ids = [...Object.keys(overrides), ...Object.keys(CATALOGUE)]
  const named = ids.find((one) => parseModelId(one)?.model === id)
  const alike = nearestName(id, ids)
  const sameProvider = ids.filter((one) => one.startsWith(`${parseModelId(id)?.provider ?? ''}/`))
  return [...new Set([named, alike, ...sameProvider])].flatMap((one) => one ?? []).slice(0, MAX_NEAREST)
}

/** Input that the model is known not to take. */
export function refuseParts(
  id: string,
  { features }: ModelFacts,
  parts: readonly UserPart[],
): ModelRefusal | undefined {
  const remedy = `Choose another model, or set its features in the configuration (models, "${id}", features).`
  if (features.images === false && parts.some(({ type }) => type === 'image'))
    return modelRefusal('model_unfit', `${id} takes no images.`, remedy)
  const document = parts.find((part) => part.type === 'file' && !part.mediaType.startsWith('text/'))
  if (document?.type !== 'file') return undefined
  if (document.mediaType !== 'application/pdf')
    return modelRefusal(
      'model_unfit',
      `No model takes files of the type ${document.mediaType}.`,
      'Send text, an image or a PDF.',
    )
  return features.documents === false
    ? modelRefusal('model_unfit', `${id} takes no documents.`, remedy)
    : undefined
}

const MAX_NEAREST = 3

/** Providers name snapshots by their day: claude-opus-4-5-20251101, gpt-6-sol-2026-09-22. */
function withoutDate(id: string): string {
  return id.replace(/-(\d{8}|\d{4}-\d{2}-\d{2})$/, '')
}
