import { RE2JS } from 're2js'
import { NEWLINE } from './characters.ts'
import type { Findings } from './findings.ts'

/** What users call secret: RE2 patterns, each looked for within a line. They take time in proportion to what is read. */
export class OwnPatterns {
  readonly #compiled: readonly RE2JS[]

  /** Throws where one is no pattern. */
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
      // Nobody can tell how a line will go on.
      if (to === found.end && found.open && from < to) found.addEarly(from, from)
      from = to + 1
    }
  }
}

function addMatches(found: Findings, pattern: RE2JS, line: Buffer, offset: number): void {
  const matcher = pattern.matcher(line)
  while (matcher.find()) {
    // With groups the first one is the secret; what stands around it only says where.
    const group = matcher.groupCount() > 0 && matcher.start(1) >= 0 ? 1 : 0
    found.add(offset + matcher.start(group), offset + matcher.end(group))
  }
}
