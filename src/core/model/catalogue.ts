import type { ModelFacts } from './facts.ts'
import type { Price, Rates } from './price.ts'

/** The day on which the prices below were compared with the providers' lists. */
const AS_OF = '2026-11-17'

const MILLION = 1_000_000
const K = 1_000
const ALL_FEATURES = { images: true, documents: true, tools: true, reasoning: true }

/**
 * Models whose window and list price are known. It is a convenience: other names work too, with unknown numbers, and the configuration
 * corrects each entry. Rates are US dollars per million tokens of the standard tier: input, output, cached input, cache write (5 minutes).
 */
export const CATALOGUE: Readonly<Record<string, ModelFacts>> = {
  'anthropic/claude-fable-5-1': claude(MILLION, rates(10, 50, 0.25, 12.5)),
  'anthropic/claude-opus-5-5': claude(MILLION, rates(4, 20, 0.2, 5)),
  'anthropic/claude-opus-5': claude(MILLION, rates(5, 25, 0.5, 6.25)),
  'anthropic/claude-sonnet-5-5': claude(MILLION, rates(2, 10, 0.1, 2.5)),
  'anthropic/claude-sonnet-5': claude(MILLION, rates(2, 10, 0.2, 2.5)),
  'anthropic/claude-haiku-5-5': claude(MILLION, rates(0.1, 0.5, 0.01, 0.125), {
    aboveInputTokens: 100 * K,
    ...rates(0.5, 2.5, 0.05, 0.625),
  }),
  'anthropic/claude-opus-4-8': claude(MILLION, rates(5, 25, 0.5, 6.25)),
  'anthropic/claude-opus-4-7': claude(MILLION, rates(5, 25, 0.5, 6.25)),
  'anthropic/claude-opus-4-6': claude(MILLION, rates(5, 25, 0.5, 6.25)),
  'anthropic/claude-sonnet-4-6': claude(MILLION, rates(3, 15, 0.3, 3.75)),
  'anthropic/claude-haiku-4-5': {
    ...claude(200 * K, rates(1, 5, 0.1, 1.25)),
    maxOutputTokens: 64 * K,
  },
  'openai/gpt-6-astra': gpt(rates(10, 50, 1, 12.5)),
  'openai/gpt-6.1-sol': gpt(rates(2, 10, 0.1, 2.5)),
  'openai/gpt-6.1-terra': gpt(rates(1, 5, 0.05, 1.25)),
  'openai/gpt-6-sol': gpt(rates(2, 10, 0.2, 2.5)),
  'openai/gpt-6-luna': gpt(rates(0.1, 0.5, 0.01, 0.125)),
}

/** Scripts cost nothing, take everything, and pretend a usual window. */
export const SCRIPTED: ModelFacts = {
  contextWindow: 200 * K,
  features: ALL_FEATURES,
  price: { asOf: AS_OF, input: 0, output: 0 },
}

function claude(contextWindow: number, base: Rates, longContext?: Price['longContext']): ModelFacts {
  return {
    contextWindow,
    maxOutputTokens: 128 * K,
    features: ALL_FEATURES,
    price: { asOf: AS_OF, ...base, ...(longContext !== undefined && { longContext }) },
  }
}

/** Above 272,000 tokens of input, the whole call costs twice as much for input and half as much again for output. */
function gpt(base: Required<Rates>): ModelFacts {
  const longContext = {
    aboveInputTokens: 272 * K,
    input: base.input * 2,
    output: base.output * 1.5,
    cachedInput: base.cachedInput * 2,
    cacheWrite: base.cacheWrite * 2,
  }
  return {
    contextWindow: 1_050 * K,
    maxOutputTokens: 128 * K,
    features: ALL_FEATURES,
    price: { asOf: AS_OF, ...base, longContext },
  }
}

function rates(input: number, output: number, cachedInput: number, cacheWrite: number): Required<Rates> {
  return { input, output, cachedInput, cacheWrite }
}
