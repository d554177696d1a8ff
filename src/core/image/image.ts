import type { Hook } from '../agent/hooks.ts'
import type { Amounts } from '../allowance/amounts.ts'
import type { Preset } from '../capability/presets.ts'
import { canonical } from '../json/canonical.ts'
import { asJson, type JsonObject } from '../json/json.ts'
import type { MemorySpec } from '../memory/memory-spec.ts'
import type { Effort } from '../model/prompt.ts'
import type { McpServerSpec, Specs } from '../process/spec.ts'

/** What an agent is made of, besides its goal. The schema in the verb `registerImage` describes each field. */
export type Image = {
  readonly name: string
  readonly description?: string
  readonly system?: string
  /** The first is called; the others are called instead when its provider fails. */
  readonly models?: readonly string[]
  readonly effort?: Effort
  readonly maxOutputTokens?: number
  readonly tools?: readonly string[]
  readonly mcpServers?: { readonly [name: string]: McpServerSpec }
  readonly preset?: Preset
  readonly budget?: Amounts
  readonly softLimits?: Amounts
  readonly output?: JsonObject
  readonly hooks?: readonly Hook[]
  readonly needs?: readonly string[]
  readonly memory?: MemorySpec
}

export const IMAGE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
/** A name, or the version of it with this hash, or the beginning of one. */
export const IMAGE_REF = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}(@[0-9a-f]{8,64})?$/

/** How long the text of an image may be: its system prompt goes to a model with every call. */
export const MAX_IMAGE_CHARS = 256 * 1024

/** The text whose hash is the version of an image. It does not depend on the format of its file, nor on the order of its members. */
export function imageText(image: Image): string {
  return canonical(asJson(image))
}

export interface ImageRef {
  readonly name: string
  /** The whole hash or its beginning; null: the present version. */
  readonly hash: string | null
}

export function imageRefOf(text: string): ImageRef {
  const [name = '', hash = null] = text.split('@')
  return { name, hash }
}

function imageRefText({ name, hash }: ImageRef): string {
  return hash === null ? name : `${name}@${hash}`
}

/**
 * The spec of an agent that is made from an image. What the caller gives counts instead of what the image says, and what the image says
 * about rights and budgets is not in the spec: it is asked for.
 */
export function specWithImage(given: Specs['agent'], image: Image, hash: string): Specs['agent'] {
  const {
    system,
    models = [],
    effort,
    maxOutputTokens,
    tools,
    mcpServers,
    preset,
    softLimits,
    output,
    hooks,
    memory,
  } = image
  const [model, ...fallbacks] = models
  const ofImage: Partial<Specs['agent']> = {
    ...(system === undefined ? {} : { system }),
    ...(model === undefined ? {} : { model }),
    // Another model of the caller has fallbacks of its own.
    ...(fallbacks.length === 0 || given.model !== undefined ? {} : { fallbacks }),
    ...(effort === undefined ? {} : { effort }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(tools === undefined ? {} : { tools }),
    ...(mcpServers === undefined ? {} : { mcpServers }),
    ...(preset === undefined ? {} : { preset }),
    ...(softLimits === undefined ? {} : { softLimits }),
    ...(output === undefined ? {} : { output }),
    ...(hooks === undefined ? {} : { hooks }),
    ...(memory === undefined ? {} : { memory }),
  }
  return { ...ofImage, ...given, image: imageRefText({ name: image.name, hash }) }
}
