import { PlainBytes } from './ansi.ts'
import { ESC, isLineEnd, NEWLINE, STAR } from './characters.ts'
import { Findings } from './findings.ts'
import { KnownValues } from './known-values.ts'
import { OwnPatterns } from './own-patterns.ts'
import { findPrivateKeys, MAX_PEM_BYTES } from './pem.ts'
import { scan } from './scan.ts'
import { MAX_BLOCK_BYTES } from './yaml-block.ts'

/**
 * How far a reader looks back and ahead, so that a read that begins or ends within a secret masks its part of it. A longer line
 * or secret is masked as far as these bytes reveal it.
 */
export const LOOK_BACK_BYTES = 2 * MAX_PEM_BYTES
export const LOOK_AHEAD_BYTES = MAX_PEM_BYTES + 256

export interface SecretsGiven {
  /** Secret texts. */
  readonly values?: Iterable<string>
  /** The user's RE2 patterns. */
  readonly patterns?: readonly string[]
}

/** Bytes of a log, with context around the wanted part. */
export interface Stretch {
  readonly bytes: Buffer
  /** The wanted part; the rest is context. */
  readonly from: number
  readonly to: number
  /** The log begins at the first byte. */
  readonly clean: boolean
  /** More bytes may be written after the last one. */
  readonly open: boolean
}

export interface Masked {
  /**
   * In so many of the wanted bytes the decision is final. In the others every possible beginning of a secret is masked.
   * Exception: the lines of a private key whose beginning is missing are recognised by the key's end, and so only once the end
   * is written.
   */
  readonly decided: number
  /** Nothing was masked. */
  readonly isClean: boolean
}

interface TextOptions {
  readonly lines?: boolean
  readonly openAt?: number | undefined
}

/** Finds secrets and replaces each byte by `*`, so that all offsets stay valid. Line ends stay. */
export class Masker {
  readonly #values: KnownValues
  readonly #patterns: OwnPatterns

  constructor({ values = [], patterns = [] }: SecretsGiven = {}) {
    this.#values = new KnownValues(values)
    this.#patterns = new OwnPatterns(patterns)
  }

  /** Masks the wanted part of a stretch in place. Terminal escape sequences stay, also within a secret. */
  stretch(stretch: Stretch): Masked {
    const { bytes, from, to, open } = stretch
    if (!bytes.includes(ESC)) {
      const found = this.#findInStretch(stretch)
      return masked(bytes, found.spans, found.tentative, { from, to, undecided: found.undecided })
    }
    const plain = new PlainBytes(bytes)
    const found = this.#findInStretch({
      ...stretch,
      bytes: plain.bytes,
      from: plain.plainOffset(from),
      to: plain.plainOffset(to),
    })
    const decided = found.undecided === Number.POSITIVE_INFINITY ? to : plain.originalOffset(found.undecided)
    const undecided = open && plain.unfinished !== -1 ? Math.min(decided, plain.unfinished) : decided
    const spans = plain.originalSpans(found.spans)
    return masked(bytes, spans, plain.originalSpans(found.tentative), { from, to, undecided })
  }

  #findInStretch({ bytes, from, to, clean, open }: Stretch): Findings {
    // A value may stand on the lines below its name.
    const early = Math.max(0, from - MAX_BLOCK_BYTES - 1)
    const line = early === 0 ? 0 : bytes.lastIndexOf(NEWLINE, early - 1) + 1
    const newline = to === 0 ? -1 : bytes.indexOf(NEWLINE, to - 1)
    const found = new Findings(bytes, {
      start: line,
      end: newline === -1 ? bytes.length : newline + 1,
      clean: clean || line > 0,
      open: open && newline === -1,
      lines: true,
    })
    scan(found, bytes)
    if (!this.#values.isEmpty) this.#values.find(found, bytes)
    if (!this.#patterns.isEmpty) this.#patterns.find(found, bytes)
    findPrivateKeys(found, bytes, open)
    return found
  }

  /** Masks a complete output. */
  bytes(bytes: Uint8Array): Buffer {
    const masked = Buffer.from(bytes)
    this.stretch({ bytes: masked, from: 0, to: masked.length, clean: true, open: false })
    return masked
  }

  /**
   * Masks a text other than output: a command line, a message. Its JavaScript length stays. `lines`: the text is output, as a
   * screen shows it, and a value after `NAME=` at the start of a line is the whole line. `openAt`: more text may follow at this
   * index, or was cut off there, so possible beginnings of secrets are masked, too; by default before a final `…`.
   */
  text(text: string, { lines = false, openAt = cutAt(text) }: TextOptions = {}): string {
    if (openAt === undefined && (text.length < MIN_CHARS || !this.#mayHave(text))) return text
    if (text.includes(ESCAPE)) return this.#textWithEscapes(text, lines, openAt)
    const spans = this.#spansIn(unitsOf(text), text, lines, openAt)
    return spans.length === 0 ? text : filled(text, spans)
  }

  #textWithEscapes(text: string, lines: boolean, openAt: number | undefined): string {
    const plain = new PlainBytes(unitsOf(text))
    // A line end that replaces a sequence exists in the units only.
    let plainText = ''
    for (let at = 0; at < plain.bytes.length; at++) {
      const origin = plain.originalOffset(at)
      plainText += plain.bytes[at] === NEWLINE ? '\n' : (text[origin] ?? '')
    }
    const openPlain = openAt === undefined ? undefined : plain.plainOffset(openAt)
    const spans = plain.originalSpans(this.#spansIn(plain.bytes, plainText, lines, openPlain))
    return spans.length === 0 ? text : filled(text, spans)
  }

  #spansIn(units: Buffer, text: string, lines: boolean, openAt: number | undefined): number[] {
    const found = new Findings(units, { clean: true, open: false, lines })
    this.#findIn(found, units, text)
    if (openAt !== undefined) this.#findBegun(found, units, text.slice(0, openAt))
    return found.spans
  }

  #findIn(found: Findings, units: Buffer, text: string): void {
    scan(found, units)
    this.#values.findInText(found, text)
    if (!this.#patterns.isEmpty) this.#patterns.find(found, units)
    findPrivateKeys(found, units, found.open)
  }

  /** Searches again, as if the text ended there and more followed. */
  #findBegun(found: Findings, units: Buffer, text: string): void {
    const begun = new Findings(units.subarray(0, text.length), {
      clean: true,
      open: true,
      lines: found.lines,
    })
    this.#findIn(begun, units.subarray(0, text.length), text)
    found.spans.push(...begun.spans, ...begun.tentative)
  }

  #mayHave(text: string): boolean {
    return !this.#patterns.isEmpty || TRACES.test(text) || this.#values.areIn(text)
  }
}

/** Where a text was cut, if it ends with `…`. */
function cutAt(text: string): number | undefined {
  return text.endsWith('…') ? text.length - 1 : undefined
}

/** Every shape contains one of these. Most texts of a record have none, and need no search. */
const TRACES = /[=:>]|[\w-]{16}|-[A-Za-z]|pass|identified/i
const ESCAPE = '\u001b'

/** `*` for each character of a text. */
export function stars(text: string): string {
  return '*'.repeat(text.length)
}

/** No secret is shorter, together with what identifies it. */
const MIN_CHARS = 6

/** Masks spans of the wanted bytes. `undecided`: from this offset on, later bytes may change the result. */
function masked(
  bytes: Uint8Array,
  spans: readonly number[],
  tentative: readonly number[],
  { from, to, undecided }: { readonly from: number; readonly to: number; readonly undecided: number },
): Masked {
  const isMasked = fill(bytes, spans, from, to)
  const isCareful = fill(bytes, tentative, from, to)
  return { decided: Math.max(0, Math.min(undecided, to) - from), isClean: !isMasked && !isCareful }
}

/** Returns whether any byte was masked. */
function fill(bytes: Uint8Array, spans: readonly number[], from: number, to: number): boolean {
  let isAny = false
  for (let index = 0; index < spans.length; index += 2) {
    const end = Math.min(spans[index + 1] as number, to)
    for (let at = Math.max(spans[index] as number, from); at < end; at++) {
      isAny = true
      if (!isLineEnd(bytes[at])) bytes[at] = STAR
    }
  }
  return isAny
}

/** One byte per UTF-16 unit. Non-ASCII units belong to no shape, and become a byte that belongs to none. */
function unitsOf(text: string): Buffer {
  const bytes = Buffer.allocUnsafe(text.length)
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    bytes[at] = unit < 0x80 ? unit : 0xff
  }
  return bytes
}

function filled(text: string, spans: readonly number[]): string {
  const units = text.split('')
  for (let index = 0; index < spans.length; index += 2)
    for (let at = spans[index] as number; at < (spans[index + 1] as number); at++)
      if (units[at] !== '\n' && units[at] !== '\r') units[at] = '*'
  return units.join('')
}
