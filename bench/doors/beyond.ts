import { median } from '../clock.ts'

export interface Beyond {
  readonly ours: number
  readonly floor: number
  /** The median of the rounds' differences. */
  readonly difference: number
  readonly ratio: number
}

/** How much longer one thing takes than another, measured in turns, with alternating order. */
export async function beyond(
  rounds: number,
  ours: () => Promise<number>,
  floor: () => Promise<number>,
): Promise<Beyond> {
  const pairs: { ours: number; floor: number }[] = []
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) pairs.push({ ours: await ours(), floor: await floor() })
    else {
      const first = await floor()
      pairs.push({ ours: await ours(), floor: first })
    }
  }
  return {
    ours: median(pairs.map((pair) => pair.ours)),
    floor: median(pairs.map((pair) => pair.floor)),
    difference: median(pairs.map((pair) => pair.ours - pair.floor)),
    ratio: median(pairs.map((pair) => pair.ours / pair.floor)),
  }
}
