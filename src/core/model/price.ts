import type { Amounts } from '../allowance/amounts.ts'
import type { Usage } from './answer.ts'
import { type ModelRefusal, modelRefusal } from './refusal.ts'

/** US dollars per million tokens, as of a day. */
export interface Price extends Rates {
  /** The day on which the price was looked up, as `2026-11-17`. */
  readonly asOf: string
  /** The rates of the whole call if it has more input than that. */
  readonly longContext?: Rates & { readonly aboveInputTokens: number }
}

export interface Rates {
  readonly input: number
  readonly output: number
  /** Input that was read from the cache. Default: `input`. */
  readonly cachedInput?: number
  /** Input that was written to it. Default: `input`. */
  readonly cacheWrite?: number
}

/** An unknown cost is not 0. */
export type Cost = { readonly type: 'known'; readonly microUsd: number } | { readonly type: 'unknown' }

/** One token at a dollar per million costs one millionth of a dollar, so the products are millionths. They are rounded up once. */
export function costOf(usage: Usage, price: Price | undefined): Cost {
  if (price === undefined) return { type: 'unknown' }
  const { longContext } = price
  const isLong = longContext !== undefined && usage.inputTokens > longContext.aboveInputTokens
  const rates: Rates = isLong ? longContext : price
  const plain = Math.max(0, usage.inputTokens - usage.cachedInputTokens - usage.cacheWriteTokens)
  const microUsd =
    plain * rates.input +
    usage.cachedInputTokens * (rates.cachedInput ?? rates.input) +
    usage.cacheWriteTokens * (rates.cacheWrite ?? rates.input) +
    usage.outputTokens * rates.output
  return { type: 'known', microUsd: Math.ceil(withoutRoundingErrors(microUsd)) }
}

/** What a call takes from an allowance. A cost that is unknown is not charged: `refuseUnpriced` keeps such models from budgets of cost. */
export function chargeFor(usage: Usage, cost: Cost): Amounts {
  const counted = { modelCalls: 1, tokensIn: usage.inputTokens, tokensOut: usage.outputTokens }
  return cost.type === 'known' ? { ...counted, cost: cost.microUsd / 1e6 } : counted
}

/** With a budget of cost, a model whose cost cannot be counted must not run. `limits` is what the process was given. */
export function refuseUnpriced(
  id: string,
  price: Price | undefined,
  limits: Amounts,
): ModelRefusal | undefined {
  if (limits.cost === undefined || price !== undefined) return undefined
  return modelRefusal(
    'model_unpriced',
    `The price of ${id} is not known, and this agent has a budget of cost.`,
    `Set its price in the configuration (models, "${id}", price), choose a model with a price, or limit tokens instead of cost.`,
  )
}

/** Products of decimals miss whole numbers by less than that. */
function withoutRoundingErrors(amount: number): number {
  return Math.round(amount * 1e6) / 1e6
}
