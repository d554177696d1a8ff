import type { Figure } from './figure.ts'

export interface SuiteOptions {
  /** A smoke test in under a minute, not a result. */
  readonly quick: boolean
  /** A folder with a benchmark of other systems, to be measured in the same run. */
  readonly peers: string | undefined
  /** Only measurements whose name contains this text. */
  readonly only: string | undefined
  /** How many things to measure with, where the suite lets that be chosen. */
  readonly count: number | undefined
  /** An empty folder of this run's own, removed afterwards. */
  readonly folder: string
  /** Reports progress. */
  readonly say: (text: string) => void
  /** A failed measurement fails the run, but the others are still made. */
  readonly failed: (what: string, error: unknown) => void
}

/** A set of measurements; it yields each figure as soon as it is known. */
export interface Suite {
  readonly summary: string
  run(options: SuiteOptions): AsyncIterable<Figure>
}

/** By name. */
export type Measurements = Readonly<Record<string, () => AsyncIterable<Figure>>>

/** Makes the selected measurements, one after another. */
export async function* measureEach(
  measurements: Measurements,
  options: SuiteOptions,
): AsyncGenerator<Figure> {
  for (const [name, measure] of Object.entries(measurements)) {
    if (!isWanted(name, options)) continue
    options.say(name)
    yield* tried(name, measure(), options)
  }
}

export async function* tried(
  what: string,
  figures: AsyncIterable<Figure>,
  { failed }: SuiteOptions,
): AsyncGenerator<Figure> {
  try {
    yield* figures
  } catch (error) {
    failed(what, error)
  }
}

export function isWanted(name: string, { only }: SuiteOptions): boolean {
  return only === undefined || name.includes(only)
}
