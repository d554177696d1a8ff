import { setTimeout } from 'node:timers/promises'

/** Small things that every measurement needs. Times are milliseconds. */
export const now = () => performance.now()
export const sleep = (ms: number) => setTimeout(ms)

/** Polls until the condition holds. A condition that never holds fails the measurement. */
export async function until(
  what: string,
  isSo: () => Promise<boolean> | boolean,
  everyMs = 2,
): Promise<void> {
  const begun = now()
  while (!(await isSo())) {
    if (now() - begun > LIMIT_MS) throw new Error(`Not within ${LIMIT_MS / 1_000} s: ${what}.`)
    await sleep(everyMs)
  }
}

const LIMIT_MS = 60_000

/** Runs `task` for 0 … count-1, at most `callers` at a time; each caller starts its next task after the answer. */
export async function byCallers(
  count: number,
  callers: number,
  task: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0
  const caller = async () => {
    while (next < count) await task(next++)
  }
  await Promise.all(Array.from({ length: Math.min(callers, count) }, caller))
}

/** The value that `part` of all values do not exceed: 0.5 is the median. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const value = sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(part * sorted.length) - 1))]
  if (value === undefined) throw new Error('No values to choose from.')
  return value
}

export const median = (values: readonly number[]) => quantile(values, 0.5)

/**
 * Measures two things in turns, so that a disk or a neighbour that is slow for a while is slow for both. The ratio is
 * the median of the rounds' ratios.
 */
export async function inTurns(
  rounds: number,
  first: () => Promise<number>,
  second: () => Promise<number>,
): Promise<{ readonly first: number; readonly second: number; readonly ratio: number }> {
  const pairs: { first: number; second: number }[] = []
  for (let round = 0; round < rounds; round++) {
    // The second one may find a warmer or a fuller disk, so the order alternates, too.
    if (round % 2 === 0) pairs.push({ first: await first(), second: await second() })
    else {
      const later = await second()
      pairs.push({ first: await first(), second: later })
    }
  }
  return {
    first: median(pairs.map((pair) => pair.first)),
    second: median(pairs.map((pair) => pair.second)),
    ratio: median(pairs.map((pair) => pair.first / pair.second)),
  }
}
