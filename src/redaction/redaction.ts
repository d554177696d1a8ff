import { BoundedMap } from '../base/bounded-map.ts'
import { Masker } from './masker.ts'

/** What is masked besides the known shapes; `false`: nothing is masked at all. */
export type RedactOptions =
  | boolean
  | { readonly values?: readonly string[]; readonly patterns?: readonly string[] }

/** The secrets that are known to one kernel. More become known while it runs: those of the environment, and those of commands. */
export class Redaction {
  readonly isOn: boolean
  readonly #patterns: readonly string[]
  readonly #values: Set<string>
  readonly #sources: (() => Iterable<string>)[] = []
  /** By the values that one command has besides; those that were asked for last, last. */
  readonly #maskers = new BoundedMap<string, Masker>(MAX_MASKERS)

  constructor(options: RedactOptions = true) {
    const { values = [], patterns = [] } = typeof options === 'boolean' ? {} : options
    this.isOn = options !== false
    this.#values = new Set(values)
    this.#patterns = patterns
    // Now, so that whoever gave a wrong pattern is told at once.
    this.masker()
  }

  /** What this answers is secret, too; it is asked each time, so that it may answer more later. */
  learnFrom(source: () => Iterable<string>): void {
    this.#sources.push(source)
  }

  /** These are secrets, from now on. */
  know(values: Iterable<string>): void {
    const before = this.#values.size
    for (const value of values) this.#values.add(value)
    if (this.#values.size > before) this.#maskers.clear()
  }

  /** Masks what is known, and these. */
  masker(besides: readonly string[] = []): Masker {
    for (const source of this.#sources) this.know(source())
    const key = besides.join('\0')
    const known = this.#maskers.get(key)
    const masker = known ?? new Masker({ values: [...this.#values, ...besides], patterns: this.#patterns })
    this.#maskers.set(key, masker)
    return masker
  }
}

const MAX_MASKERS = 256
