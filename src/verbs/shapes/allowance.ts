import * as z from 'zod'
import type { Amounts } from '../../core/allowance/amounts.ts'
import { count } from './scalars.ts'

/** Keeps sums exact. */
const MAX_AMOUNT = 1e15
const whole = count.max(MAX_AMOUNT).exactOptional()
const decimal = z
  .number()
  .nonnegative()
  .max(1e9)
  .refine(
    (amount) => Math.abs(amount * 1e6 - Math.round(amount * 1e6)) < 1e-3,
    'must have at most six decimals',
  )
  .exactOptional()

/** An amount for each thing that is counted. */
export const amounts = z.strictObject({
  toolCalls: whole,
  modelCalls: whole,
  tokensIn: whole,
  tokensOut: whole,
  cost: decimal.describe('in a currency of your choice; up to six decimals'),
  cpuSeconds: decimal,
  outputBytes: whole,
  children: whole.describe('processes registered below it, at any depth'),
}) satisfies z.ZodType<Amounts>

export const budgetShape = z.strictObject({
  given: amounts.describe('the limit of each; a missing name has no limit'),
  used: amounts.describe('used by the process itself'),
  total: amounts.describe('used by the process and its descendants'),
  left: amounts.describe('what it may still use or pass on; allowances of its descendants are subtracted'),
})
