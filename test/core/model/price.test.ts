import { describe, expect, test } from 'vitest'
import { refuseAmounts } from '../../../src/core/allowance/amounts.ts'
import type { Usage } from '../../../src/core/model/answer.ts'
import { factsOf, nearestModels, refuseParts } from '../../../src/core/model/facts.ts'
import { chargeFor, costOf, type Price, refuseUnpriced } from '../../../src/core/model/price.ts'

const usage = (more: Partial<Usage>): Usage => ({
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  isEstimate: false,
  ...more,
})
const price: Price = { asOf: '2026-11-17', input: 2, output: 10, cachedInput: 0.1, cacheWrite: 2.5 }
const local = { provider: 'local', model: 'm' }

describe('cost', () => {
  test('input, cached input, cache writes and output have their own rates', () => {
    const used = usage({
      inputTokens: 1_000,
      cachedInputTokens: 600,
      cacheWriteTokens: 100,
      outputTokens: 50,
    })
    // 300 × 2 + 600 × 0.1 + 100 × 2.5 + 50 × 10
    expect(costOf(used, price)).toEqual({ type: 'known', microUsd: 1_410 })
  })

  test('is rounded up, once', () => {
    expect(costOf(usage({ cachedInputTokens: 1, inputTokens: 1 }), price)).toEqual({
      type: 'known',
      microUsd: 1,
    })
    expect(costOf(usage({ cachedInputTokens: 30, inputTokens: 30 }), price)).toEqual({
      type: 'known',
      microUsd: 3,
    })
  })

  test('cached input without a rate of its own costs as much as other input', () => {
    const { cachedInput: _, cacheWrite: __, ...plain } = price
    expect(costOf(usage({ inputTokens: 10, cachedInputTokens: 10 }), plain)).toEqual({
      type: 'known',
      microUsd: 20,
    })
  })

  test('a long prompt changes the rates of the whole call', () => {
    const tiered = { ...price, longContext: { aboveInputTokens: 100, input: 4, output: 15 } }
    expect(costOf(usage({ inputTokens: 100, outputTokens: 1 }), tiered)).toEqual({
      type: 'known',
      microUsd: 210,
    })
    expect(costOf(usage({ inputTokens: 101, outputTokens: 1 }), tiered)).toEqual({
      type: 'known',
      microUsd: 419,
    })
  })

  test('without a price it is unknown, and not 0', () => {
    expect(costOf(usage({ inputTokens: 10 }), undefined)).toEqual({ type: 'unknown' })
    expect(chargeFor(usage({ inputTokens: 10 }), { type: 'unknown' })).toEqual({
      modelCalls: 1,
      tokensIn: 10,
      tokensOut: 0,
    })
  })

  test('a charge is one that an allowance takes', () => {
    const used = usage({ inputTokens: 123, outputTokens: 7 })
    const charge = chargeFor(used, costOf(used, price))
    expect(charge).toEqual({ modelCalls: 1, tokensIn: 123, tokensOut: 7, cost: 0.000316 })
    expect(refuseAmounts(charge)).toBeUndefined()
  })
})

describe('a budget of cost', () => {
  test('refuses a model without a price, and says how to set one', () => {
    expect(refuseUnpriced('local/m', undefined, { cost: 1 })).toEqual({
      type: 'refused',
      code: 'model_unpriced',
      message: 'The price of local/m is not known, and this agent has a budget of cost.',
      remedy:
        'Set its price in the configuration (models, "local/m", price), choose a model with a price, or limit tokens instead of cost.',
    })
  })

  test('takes a model with a price; other budgets take every model', () => {
    expect(refuseUnpriced('local/m', price, { cost: 1 })).toBeUndefined()
    expect(refuseUnpriced('local/m', undefined, { tokensOut: 1_000 })).toBeUndefined()
  })
})

describe('facts', () => {
  test('the catalogue knows windows and prices, also of dated snapshots', () => {
    const dated = factsOf({ provider: 'openai', model: 'gpt-6-sol-2026-09-22' })
    expect(dated.contextWindow).toBe(1_050_000)
    expect(dated.price).toMatchObject({
      input: 2,
      output: 10,
      cachedInput: 0.2,
      longContext: { input: 4, output: 15 },
    })
    expect(factsOf({ provider: 'anthropic', model: 'claude-opus-5-5' }).price?.asOf).toMatch(
      /^\d{4}-\d{2}-\d{2}$/,
    )
  })

  test('the configuration replaces them, name by name', () => {
    const facts = factsOf(
      { provider: 'anthropic', model: 'claude-opus-5-5' },
      { 'anthropic/claude-opus-5-5': { contextWindow: 5, features: { images: false } } },
    )
    expect(facts).toMatchObject({
      contextWindow: 5,
      features: { images: false, tools: true },
      price: { input: 4 },
    })
  })

  test('a script costs nothing, so a budget of cost takes it', () => {
    const demo = { provider: 'scripted', model: 'demo' }
    const { price: free } = factsOf(demo)
    expect(costOf(usage({ inputTokens: 10, outputTokens: 10 }), free)).toEqual({ type: 'known', microUsd: 0 })
    expect(refuseUnpriced('scripted/demo', free, { cost: 1 })).toBeUndefined()
  })

  test('other models have none', () => {
    expect(factsOf(local)).toEqual({ features: {} })
  })

  test('names that were probably meant come first', () => {
    expect(nearestModels('claude-opus-5-5')[0]).toBe('anthropic/claude-opus-5-5')
    expect(nearestModels('anthropic/claude-opos-5-5')[0]).toBe('anthropic/claude-opus-5-5')
    expect(nearestModels('opneai/gpt-6-sol')[0]).toBe('openai/gpt-6-sol')
  })

  test('input that a model is known not to take is refused', () => {
    const image = { type: 'image', mediaType: 'image/png', data: '' } as const
    expect(refuseParts('local/m', { features: { images: false } }, [image])?.code).toBe('model_unfit')
    expect(refuseParts('local/m', { features: {} }, [image])).toBeUndefined()
    const file = { type: 'file', mediaType: 'application/zip', data: '' } as const
    expect(refuseParts('local/m', { features: {} }, [file])?.message).toBe(
      'No model takes files of the type application/zip.',
    )
  })
})
