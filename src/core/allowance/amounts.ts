/** What is counted. Tokens, calls, bytes and children are whole; cost and CPU seconds have up to six decimals. */
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

/** So much of each. What a missing name means is said where amounts are used. */
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

export function isNothing(amounts: Amounts): boolean {
  return COUNTED.every((name) => (amounts[name] ?? 0) === 0)
}

/** Decimals are kept to millionths, so that what is taken and given back a thousand times comes out even. */
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
