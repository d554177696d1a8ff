import { BoundedMap } from '../base/bounded-map.ts'
import { Masker } from './masker.ts'

/** Values and patterns to mask in addition to the known shapes; `false` turns masking off. */
export type RedactOptions =
  | boolean
  | { readonly values?: readonly string[]; readonly patterns?: readonly string[] }

/** The secrets that one kernel knows. It learns more while it runs: from environments and from commands. */
export class Redaction {
  readonly isOn: boolean
  readonly #patterns: readonly string[]
  readonly #values: Set<string>
  readonly #sources: (() => Iterable<string>)[] = []
  /** Of the known secrets alone: most answers need no other. */
  #usual: Masker | undefined
  /** By the additional values of one command; the least recently used first. */
  readonly #maskers = new BoundedMap<string, Masker>(MAX_MASKERS)

  constructor(options: RedactOptions = true) {
    const { values = [], patterns = [] } = typeof options === 'boolean' ? {} : options
    this.isOn = options !== false
    this.#values = new Set(values)
    this.#patterns = patterns
    // Compiles the patterns now, so that a wrong one is reported at once.
    this.masker()
  }

  /** Adds a source of secrets. It is read for every masker, so that later values are found. */
  learnFrom(source: () => Iterable<string>): void {
    this.#sources.push(source)
  }

  /** Adds secrets. */
  know(values: Iterable<string>): void {
    const before = this.#values.size
    for (const value of values) this.#values.add(value)
    if (this.#values.size === before) return
    this.#maskers.clear()
    this.#usual = undefined
  }

  /** A masker of all known secrets and these. */
  masker(besides: readonly string[] = []): Masker {
    for (const source of this.#sources) this.know(source())
    if (besides.length === 0) {
      this.#usual ??= new Masker({ values: [...this.#values], patterns: this.#patterns })
      return this.#usual
    }
    const key = besides.join('\0')
    const known = this.#maskers.get(key)
    const masker = known ?? new Masker({ values: [...this.#values, ...besides], patterns: this.#patterns })
    this.#maskers.set(key, masker)
    return masker
  }
}

const MAX_MASKERS = 256
