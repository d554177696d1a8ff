import { type Refusal, refusal } from '../refusal.ts'

/** The counted resources. Tokens, calls, bytes and children are whole; cost and CPU seconds have up to six decimals. */
export const COUNTED = [
  'toolCalls',
  'modelCalls',
  'tokensIn',
  'tokensOut',
  'cost',
  'cpuSeconds',
  'outputBytes',
  'children',
] as const
export type Counted = (typeof COUNTED)[number]
export const WITH_DECIMALS: readonly Counted[] = ['cost', 'cpuSeconds']

/** An amount per name. Each use says what a missing name means. */
export type Amounts = { readonly [name in Counted]?: number }

export function plus(one: Amounts, other: Amounts): Amounts {
  return combined(one, other, (a, b) => exact(a + b))
}

export function minus(one: Amounts, other: Amounts): Amounts {
  return combined(one, other, (a, b) => exact(a - b))
}

/** Only the names that `of` has. */
export function among(amounts: Amounts, of: Amounts): Amounts {
  return Object.fromEntries(Object.entries(amounts).filter(([name]) => of[name as Counted] !== undefined))
}

/** Checks amounts that come from a caller's code. */
export function refuseAmounts(amounts: Amounts): Refusal | undefined {
  const wrong = Object.entries(amounts).find(([name, amount]) => !isAmount(name, amount))
  if (wrong === undefined) return undefined
  return refusal(
    'invalid_input',
    `${wrong[0]}: ${String(wrong[1])} cannot be charged.`,
    `Charge ${COUNTED.join(', ')}: whole numbers, and cost and cpuSeconds with up to six decimals.`,
  )
}

function isAmount(name: string, amount: unknown): boolean {
  const isCounted = (COUNTED as readonly string[]).includes(name)
  if (!isCounted || typeof amount !== 'number' || !Number.isFinite(amount) || amount < 0) return false
  const millionths = amount * 1e6
  return WITH_DECIMALS.includes(name as Counted)
    ? Math.abs(millionths - Math.round(millionths)) < 1e-3
    : Number.isSafeInteger(amount)
}

export function isSame(one: Amounts, other: Amounts): boolean {
  return COUNTED.every((name) => one[name] === other[name])
}

export function isNothing(amounts: Amounts): boolean {
  return COUNTED.every((name) => (amounts[name] ?? 0) === 0)
}

/** Decimals are rounded to millionths, so that amounts that are taken and given back many times come out even. */
export function exact(amount: number): number {
  return Number.isInteger(amount) ? amount : Math.round(amount * 1e6) / 1e6
}

function combined(one: Amounts, other: Amounts, of: (a: number, b: number) => number): Amounts {
  const all: { [name in Counted]?: number } = { ...one }
  for (const name of COUNTED) {
    const amount = other[name]
    if (amount !== undefined) all[name] = of(one[name] ?? 0, amount)
  }
  return all
}
