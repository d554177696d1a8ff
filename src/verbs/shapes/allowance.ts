import * as z from 'zod'
import type { Amounts } from '../../core/allowance/amounts.ts'
import { count } from './scalars.ts'

/** So that sums of them stay exact. */
const MOST = 1e15
const whole = count.max(MOST).exactOptional()
const decimal = z
  .number()
  .nonnegative()
  .max(1e9)
  .refine(
    (amount) => Math.abs(amount * 1e6 - Math.round(amount * 1e6)) < 1e-3,
    'must have at most six decimals',
  )
  .exactOptional()

/** So much of each that is counted. */
export const amounts = z.strictObject({
  toolCalls: whole,
  modelCalls: whole,
  tokensIn: whole,
  tokensOut: whole,
  cost: decimal.describe('in whatever currency; up to six decimals'),
  cpuSeconds: decimal,
  outputBytes: whole,
  children: whole.describe('registered below it, at any depth'),
}) satisfies z.ZodType<Amounts>

export const budgetShape = z.strictObject({
  /** The most of each; what is missing has no limit. */
  given: amounts,
  /** By itself. */
  used: amounts,
  /** By itself and all below it. */
  total: amounts,
  /** What it may still use, or give away: less what those below it hold. */
  left: amounts,
})
