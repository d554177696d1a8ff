import type { Findings } from './findings.ts'
import { wordSet } from './word-set.ts'

/** Finds values that Reeve was given as secrets, anywhere in the output. */
export class KnownValues {
  readonly #texts: readonly string[]
  readonly #needles: readonly Buffer[]

  constructor(values: Iterable<string>) {
    this.#texts = [...new Set([...values].flatMap(partsOf))]
    this.#needles = this.#texts.map((value) => Buffer.from(value))
  }

  get isEmpty(): boolean {
    return this.#needles.length === 0
  }

  find(found: Findings, bytes: Buffer): void {
    for (const needle of this.#needles) {
      let at = bytes.indexOf(needle, found.start)
      while (at !== -1 && at < found.end) {
        found.add(at, at + needle.length)
        at = bytes.indexOf(needle, at + 1)
      }
      if (found.open) this.#findBegun(found, bytes, needle)
    }
  }

  areIn(text: string): boolean {
    return this.#texts.some((value) => text.includes(value))
  }

  /** The same in a text, with offsets in characters. */
  findInText(found: Findings, text: string): void {
    for (const value of this.#texts) {
      let at = text.indexOf(value)
      while (at !== -1) {
        found.add(at, at + value.length)
        at = text.indexOf(value, at + 1)
      }
      if (found.open) findBegunIn(found, text, value)
    }
  }

  /** Finds the first characters of a value at the end of the bytes. */
  #findBegun(found: Findings, bytes: Buffer, needle: Buffer): void {
    const most = Math.min(needle.length - 1, found.end - found.start)
    for (let length = most; length >= MIN_BEGUN_CHARS; length--) {
      const at = found.end - length
      if (bytes[at] !== needle[0] || !needle.subarray(0, length).equals(bytes.subarray(at, found.end)))
        continue
      found.addTentative(at, found.end)
      return
    }
  }
}

function findBegunIn(found: Findings, text: string, value: string): void {
  for (let length = Math.min(value.length - 1, text.length); length >= MIN_BEGUN_CHARS; length--) {
    if (!text.endsWith(value.slice(0, length))) continue
    found.addTentative(text.length - length, text.length)
    return
  }
}

/** Shorter values are common words, and so are the `COMMON_VALUES`, which are often used in development. */
const MIN_CHARS = 8
const MAX_CHARS = 4096
const MIN_BEGUN_CHARS = 3
const COMMON_VALUES = wordSet(
  'postgres password changeme username localhost development production undefined disabled',
)

/** A value of several lines is found line by line, because it may be printed with a margin; each line also in its JSON form. */
export function partsOf(value: string): string[] {
  return value
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter(
      (line) =>
        line.length >= MIN_CHARS &&
        line.length <= MAX_CHARS &&
        !line.includes('*') &&
        !COMMON_VALUES.has(line.toLowerCase()) &&
        !line.startsWith('-----'),
    )
    .flatMap((line) => [line, JSON.stringify(line).slice(1, -1)])
}
