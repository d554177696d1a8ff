/**
 * Bytes that are searched for secrets, and the secrets found so far. Bytes before `start` give context; they are not
 * searched.
 */
export class Findings {
  readonly bytes: Uint8Array
  readonly start: number
  readonly end: number
  /** A secret cannot have begun before the first byte. */
  readonly clean: boolean
  /** More bytes may follow the last one. */
  readonly open: boolean
  /** A value after `NAME=` at the start of a line reaches to the end of the line; else it ends with its word, as on a command line. */
  readonly lines: boolean
  /** Start and end of each secret, in pairs. */
  readonly spans: number[] = []
  /** Start and end of each possible beginning of a secret: masked until more bytes decide. */
  readonly tentative: number[] = []
  /** From this offset on, later bytes may change the findings. */
  undecided = Number.POSITIVE_INFINITY

  constructor(
    bytes: Uint8Array,
    {
      start = 0,
      end = bytes.length,
      clean,
      open,
      lines,
    }: {
      readonly start?: number
      readonly end?: number
      readonly clean: boolean
      readonly open: boolean
      readonly lines: boolean
    },
  ) {
    this.bytes = bytes
    this.start = start
    this.end = end
    this.clean = clean
    this.open = open
    this.lines = lines
  }

  /** Whether a value that reaches up to `at` may continue in later bytes. */
  mayContinue(at: number): boolean {
    return this.open && at >= this.end
  }

  add(from: number, to: number): void {
    if (from < to) this.spans.push(from, to)
  }

  addTentative(from: number, to: number): void {
    this.undecided = Math.min(this.undecided, from)
    if (from < to) this.tentative.push(from, to)
  }
}
