import { nearestName } from '../base/nearest-name.ts'
import { FROM_ENV, secretValue, type Variables } from '../core/environment/secrets.ts'
import { own } from '../core/json/json.ts'
import { type ModelRefusal, modelRefusal } from '../core/model/refusal.ts'
import type { ModelOptions, ProviderOptions } from './options.ts'

/** A provider that can be called. */
export interface Provider {
  readonly type: ProviderOptions['type']
  readonly baseURL: string
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly maxConcurrent: number
  readonly idleTimeoutMs: number
}

/** The values that keys come from. */
export interface KeySource {
  readonly secrets: Variables
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Enough for a team's agents, and below the limits of usual accounts. */
export const DEFAULT_MAX_CONCURRENT = 32
/** Models think for minutes without a word; servers that send nothing for longer are gone. */
export const DEFAULT_IDLE_TIMEOUT_MS = 300_000

interface KnownProvider {
  readonly type: ProviderOptions['type']
  readonly baseURL: string
  /** Secrets or variables with the key, the first that is set. */
  readonly keys: readonly string[]
}

/** Providers that need no configuration but a key. Google is spoken to by its OpenAI-compatible API. */
const KNOWN: Readonly<Record<string, KnownProvider>> = {
  anthropic: { type: 'anthropic', baseURL: 'https://api.anthropic.com/v1', keys: ['ANTHROPIC_API_KEY'] },
  openai: { type: 'openai', baseURL: 'https://api.openai.com/v1', keys: ['OPENAI_API_KEY'] },
  google: {
    type: 'openai-compatible',
    baseURL: 'https://generativelanguage.googleapis.com/v1beta/openai',
    keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  },
}

/** Names of models that need no server, and so of no provider. */
const LOCAL = ['scripted', 'record']

/** The provider of that name with its key, or the refusal that names the missing part. */
export function findProvider(
  name: string,
  { providers }: Pick<ModelOptions, 'providers'>,
  source: KeySource,
): { readonly type: 'found'; readonly provider: Provider } | ModelRefusal {
  const given = own(providers, name)
  const known = own(KNOWN, name)
  const baseURL =
    given?.baseURL ?? known?.baseURL ?? (given === undefined ? undefined : own(KNOWN, given.type)?.baseURL)
  const type = given?.type ?? known?.type
  if (type === undefined || baseURL === undefined) return unknownProvider(name, Object.keys(providers))
  const key = keyOf(name, given, source)
  if (key.type === 'refused') return key
  return {
    type: 'found',
    provider: {
      type,
      baseURL: withVersion(type, baseURL),
      ...(key.value !== undefined && { key: key.value }),
      ...(given?.headers !== undefined && { headers: given.headers }),
      maxConcurrent: given?.maxConcurrent ?? DEFAULT_MAX_CONCURRENT,
      idleTimeoutMs: given?.idleTimeoutMs ?? DEFAULT_IDLE_TIMEOUT_MS,
    },
  }
}

/** A provider without a name for its key needs none, unless its API is one of those that always do. */
function keyOf(
  name: string,
  given: ProviderOptions | undefined,
  source: KeySource,
): { readonly type: 'key'; readonly value: string | undefined } | ModelRefusal {
  const wanted = given?.key === undefined ? (own(KNOWN, name)?.keys ?? []) : [given.key.secret]
  const value = wanted.flatMap((secret) => secretValue(secret, source) ?? [])[0]
  if (value !== undefined) return { type: 'key', value }
  const needsKey = wanted.length > 0
  return needsKey ? missingKey(name, wanted) : { type: 'key', value: undefined }
}

function missingKey(name: string, [first = '', ...others]: readonly string[]): ModelRefusal {
  const isVariable = first.startsWith(FROM_ENV)
  const variable = isVariable ? first.slice(FROM_ENV.length) : first
  const alternatives = others.length === 0 ? '' : ` (or ${others.join(', ')})`
  return modelRefusal(
    'model_key_missing',
    `The provider ${name} needs a key, and ${variable}${alternatives} is not set.`,
    isVariable
      ? `Start the daemon with the variable ${variable}.`
      : `Run reeve secret set ${variable}, or start the daemon with the variable ${variable}. Without a key, scripted/demo works.`,
  )
}

function unknownProvider(name: string, configured: readonly string[]): ModelRefusal {
  const names = [...new Set([...configured, ...Object.keys(KNOWN), ...LOCAL])]
  const meant = nearestName(name, names)
  const hint = meant === undefined ? '' : `Did you mean ${meant}? `
  return modelRefusal(
    'model_unknown',
    `There is no provider ${name}.`,
    `${hint}Providers: ${names.join(', ')}. Add others under providers in the configuration.`,
  )
}

/** Other tools take the address of Anthropic's API without its version, so people write it so. */
function withVersion(type: ProviderOptions['type'], baseURL: string): string {
  const trimmed = baseURL.replace(/\/+$/, '')
  return type === 'anthropic' && new URL(trimmed).pathname === '/' ? `${trimmed}/v1` : trimmed
}
