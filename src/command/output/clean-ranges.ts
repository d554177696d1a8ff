import { BoundedMap } from '../../base/bounded-map.ts'
import type { Masker } from '../../redaction/masker.ts'

interface Range {
  readonly from: number
  readonly to: number
}

/**
 * Ranges of logs in which a masker found no secret. A log that the keeper writes only grows, so the next reader need not scan
 * such a range again. A masker with more known secrets is another object, and starts without ranges.
 */
export class CleanRanges {
  readonly #known = new WeakMap<Masker, Map<string, readonly Range[]>>()

  /** Where the clean range that contains `from` ends; `from` itself if none is known. */
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
