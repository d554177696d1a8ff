/** One measured number. A ratio compares it with the floor or the peer that was measured beside it, in the same run. */
export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
  readonly ratio: number | null
  /** What the ratio is against. */
  readonly against: string | null
  /** The goal, if there is one, and whether this figure meets it. */
  readonly goal?: string
  readonly met?: boolean
}

/** A limit on a figure's ratio, or on its value where there is nothing to compare with. */
export interface Goal {
  readonly of: 'ratio' | 'value'
  readonly atLeast?: number
  readonly atMost?: number
  readonly text: string
}

export const ratioAtLeast = (atLeast: number): Goal => ({ of: 'ratio', atLeast, text: `≥ ${atLeast} ×` })
export const ratioAtMost = (atMost: number): Goal => ({ of: 'ratio', atMost, text: `≤ ${atMost} ×` })
export const valueAtMost = (atMost: number, unit: string): Goal => ({
  of: 'value',
  atMost,
  text: `≤ ${atMost} ${unit}`,
})

export function figure(
  name: string,
  value: number,
  unit: string,
  compared?: { readonly ratio: number; readonly against: string },
  goal?: Goal,
): Figure {
  const plain = {
    name,
    value: rounded(value),
    unit,
    ratio: compared === undefined ? null : rounded(compared.ratio),
    against: compared?.against ?? null,
  }
  const judged = goal?.of === 'ratio' ? compared?.ratio : value
  if (goal === undefined || judged === undefined) return plain
  const met = judged >= (goal.atLeast ?? -Infinity) && judged <= (goal.atMost ?? Infinity)
  return { ...plain, goal: goal.text, met }
}

/** Three digits: a measurement is not more precise. */
function rounded(value: number): number {
  return Math.abs(value) >= 1_000 ? Math.round(value) : Number(value.toPrecision(3))
}
