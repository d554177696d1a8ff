import * as z from 'zod'
import { SECRET_NAME } from '../core/environment/secrets.ts'
import type { FactOverrides } from '../core/model/facts.ts'

const rate = z.number().nonnegative().max(100_000)
const rates = {
  input: rate.describe('US dollars per million tokens'),
  output: rate,
  cachedInput: rate.exactOptional(),
  cacheWrite: rate.exactOptional(),
}
const count = z.number().int().positive()
/** Node's fetch gives up by itself then. */
const MAX_IDLE_TIMEOUT_MS = 300_000

const price = z.strictObject({
  asOf: z.iso.date(),
  ...rates,
  longContext: z
    .strictObject({ aboveInputTokens: count, ...rates })
    .exactOptional()
    .describe('the rates of calls with more input'),
})

const facts = z.strictObject({
  contextWindow: count.exactOptional(),
  maxOutputTokens: count.exactOptional(),
  features: z
    .strictObject({
      images: z.boolean().exactOptional(),
      documents: z.boolean().exactOptional(),
      tools: z.boolean().exactOptional(),
      reasoning: z.boolean().exactOptional(),
    })
    .exactOptional(),
  price: price.exactOptional(),
})

const secretName = z
  .string()
  .refine((name) => SECRET_NAME.test(name.replace(/^env:/, '')), 'must be the name of a secret')

const shared = {
  key: z
    .strictObject({ secret: secretName })
    .exactOptional()
    .describe('the secret with the key; env:NAME is a variable of the daemon'),
  headers: z.record(z.string(), z.string()).exactOptional(),
  maxConcurrent: z
    .number()
    .int()
    .min(1)
    .max(1_000)
    .exactOptional()
    .describe('calls at the same time, for each key'),
  idleTimeoutMs: z
    .number()
    .int()
    .min(1_000)
    .max(MAX_IDLE_TIMEOUT_MS)
    .exactOptional()
    .describe('a stream that brings nothing for so long is broken'),
}
const baseURL = z.url({ protocol: /^https?$/ })

/** A name of a provider is the first part of model ids. */
const providerName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,63}$/, 'must be lower-case letters, digits and hyphens')

/** The configuration of models: servers, keys, facts and prices. */
export const modelOptions = z.strictObject({
  providers: z
    .record(
      providerName,
      z.discriminatedUnion('type', [
        z.strictObject({ type: z.literal('anthropic'), baseURL: baseURL.exactOptional(), ...shared }),
        z.strictObject({ type: z.literal('openai'), baseURL: baseURL.exactOptional(), ...shared }),
        z.strictObject({ type: z.literal('openai-compatible'), baseURL, ...shared }),
      ]),
    )
    .default({}),
  models: (z.record(z.string(), facts) satisfies z.ZodType<FactOverrides>)
    .default({})
    .describe('facts of models, by id'),
})

export type ModelOptions = z.output<typeof modelOptions>
export type ProviderOptions = ModelOptions['providers'][string]
