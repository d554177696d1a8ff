/**
 * Bytes that are looked through for secrets, and what was found in them so far. What lies before `start` is there to be
 * looked back at, and nothing is looked for in it.
 */
export class Findings {
  readonly bytes: Uint8Array
  readonly start: number
  readonly end: number
  /** A secret cannot have begun before the first byte. */
  readonly clean: boolean
  /** More may come behind the last byte. */
  readonly open: boolean
  /** A line that begins with `NAME=` is all value; else it ends with its word, as on a command line. */
  readonly lines: boolean
  /** Secrets: where each begins, and where it ends. */
  readonly spans: number[] = []
  /** What may be the beginning of one, and would be shown before that is known. */
  readonly early: number[] = []
  /** From here on more bytes may change what is a secret. */
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

  /** Whether what reaches up to `at` may go on. */
  mayGoOn(at: number): boolean {
    return this.open && at >= this.end
  }

  add(from: number, to: number): void {
    if (from < to) this.spans.push(from, to)
  }

  addEarly(from: number, to: number): void {
    this.undecided = Math.min(this.undecided, from)
    if (from < to) this.early.push(from, to)
  }
}
