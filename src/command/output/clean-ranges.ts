import { BoundedMap } from '../../base/bounded-map.ts'
import type { Masker } from '../../redaction/masker.ts'

interface Range {
  readonly from: number
  readonly to: number
}

/**
 * Where in logs a masker found no secret. A log that the keeper writes only grows, so what one reader had looked through is
 * read by the next as it is. A masker that knows more is another one, and begins anew.
 */
export class CleanRanges {
  readonly #known = new WeakMap<Masker, Map<string, readonly Range[]>>()

  /** Up to where there is none from `from` on; `from` itself where that is not known. */
  reach(masker: Masker, folder: string, from: number): number {
    const ranges = this.#known.get(masker)?.get(folder) ?? []
    return ranges.find((range) => range.from <= from && from < range.to)?.to ?? from
  }

  add(masker: Masker, folder: string, from: number, to: number): void {
    const logs = this.#known.get(masker) ?? new BoundedMap<string, readonly Range[]>(MAX_LOGS)
    this.#known.set(masker, logs)
    const ranges = logs.get(folder) ?? []
    const touched = ranges.filter((range) => range.from <= to && from <= range.to)
    const whole = {
      from: Math.min(from, ...touched.map((range) => range.from)),
      to: Math.max(to, ...touched.map((range) => range.to)),
    }
    const others = ranges.filter((range) => !touched.includes(range))
    logs.set(folder, [whole, ...others.slice(0, MAX_RANGES)])
  }
}

const MAX_RANGES = 100
const MAX_LOGS = 1_000
