import { createHash } from 'node:crypto'

/** The events of a run, line by line. Two runs of one seed give the same lines, and so the same hash. */
export class Trace {
  readonly lines: string[] = []
  readonly #hash = createHash('sha256')

  add(line: string): void {
    this.lines.push(line)
    this.#hash.update(line).update('\n')
  }

  /** The hash of all lines so far. */
  get hash(): string {
    return this.#hash.copy().digest('hex')
  }
}
