import { RE2JS } from 're2js'
import { NEWLINE } from './characters.ts'
import type { Findings } from './findings.ts'

/** The user's RE2 patterns, each matched within a line. RE2 takes time in proportion to the input. */
export class OwnPatterns {
  readonly #compiled: readonly RE2JS[]

  /** Throws on an invalid pattern. */
  constructor(patterns: readonly string[]) {
    this.#compiled = patterns.map((pattern) => RE2JS.compile(pattern))
  }

  get isEmpty(): boolean {
    return this.#compiled.length === 0
  }

  find(found: Findings, bytes: Buffer): void {
    for (let from = found.start; from < found.end; ) {
      const newline = bytes.indexOf(NEWLINE, from)
      const to = newline === -1 ? found.end : Math.min(newline, found.end)
      for (const pattern of this.#compiled) addMatches(found, pattern, bytes.subarray(from, to), from)
      // The rest of an incomplete line may change the match.
      if (to === found.end && found.open && from < to) found.addTentative(from, from)
      from = to + 1
    }
  }
}

function addMatches(found: Findings, pattern: RE2JS, line: Buffer, offset: number): void {
  const matcher = pattern.matcher(line)
  while (matcher.find()) {
    // With groups, the first group is the secret; the rest is context.
    const group = matcher.groupCount() > 0 && matcher.start(1) >= 0 ? 1 : 0
    found.add(offset + matcher.start(group), offset + matcher.end(group))
  }
}
