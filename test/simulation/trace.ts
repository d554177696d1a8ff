import { createHash } from 'node:crypto'

/** What happened, line by line. Two runs of one seed give the same lines, and so the same hash. */
export class Trace {
  readonly lines: string[] = []
  readonly #hash = createHash('sha256')

  add(line: string): void {
    this.lines.push(line)
    this.#hash.update(line).update('\n')
  }

  /** Of everything added so far. */
  get hash(): string {
    return this.#hash.copy().digest('hex')
  }
}
