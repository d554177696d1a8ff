import { BACKSLASH, BASE64, isBlank, isIn, isLineEnd, NEWLINE, RETURN, STAR } from './characters.ts'
import type { Findings } from './findings.ts'

/** A block is masked for this many bytes after its beginning or before its end. No common key is longer than both together. */
export const MAX_PEM_BYTES = 4096

/**
 * What lies between `-----BEGIN … PRIVATE KEY-----` and its end, over lines, also escaped in one line. Only the base64 is
 * masked, so that what a program puts before each line stays; and only where base64 begins soon, so that a program that names
 * such a line can be read. Of a block whose beginning is not there any more, the lines before its end.
 */
export function findPrivateKeys(found: Findings, bytes: Buffer, open: boolean): void {
  for (let at = bytes.indexOf(PUTTY); at !== -1; at = bytes.indexOf(PUTTY, at + PUTTY.length))
    addPutty(found, bytes, at + PUTTY.length, open)
  for (let at = bytes.indexOf(TITLE); at !== -1; at = bytes.indexOf(TITLE, at + TITLE.length)) {
    const body = behindTitle(bytes, at + TITLE.length)
    if (body === -1) continue
    const begins = bytes.toString('latin1', Math.max(0, at - MAX_TITLE_BYTES), at)
    if (BEGINS.test(begins)) addBlock(found, bytes, body, open)
    const ends = ENDS.exec(begins)
    if (ends !== null) addLinesBefore(found, bytes, at - ends[0].length)
  }
}

/** Before the lines of a private key of PuTTY; how many there are stands behind it. */
const PUTTY = Buffer.from('Private-Lines: ')
const TITLE = Buffer.from('PRIVATE KEY')
const BEGINS = /-----BEGIN ([A-Z0-9]+ ){0,3}$/
const ENDS = /-----END ([A-Z0-9]+ ){0,3}$/
const MAX_TITLE_BYTES = 64
/** Lines of an encrypted key before its base64, and what a program may put before each line. */
const MAX_HEADER_LINES = 5
const HEADER = /(Proc-Type|DEK-Info|Version|Comment|Charset): /
const MAX_MARGIN_BYTES = 48
const MIN_RUN_BYTES = 24
const MIN_LINE_BYTES = 16

/** Where the title ends; -1 if the line is no title. */
function behindTitle(bytes: Buffer, at: number): number {
  const title = /^( BLOCK)?-----/.exec(bytes.toString('latin1', at, at + MAX_TITLE_BYTES))
  return title === null ? -1 : at + title[0].length
}

/**
 * The first line is known by its length. Each that follows with the same margin belongs to it, up to one that is shorter: so
 * whether a line is masked never depends on what comes behind it.
 */
function addBlock(found: Findings, bytes: Buffer, body: number, open: boolean): void {
  const most = Math.min(bytes.length, body + MAX_PEM_BYTES)
  let run = firstRun(bytes, body, most)
  if (run === null) return
  if (run.to - run.from < MIN_RUN_BYTES) {
    if (open) found.addTentative(run.from, run.to)
    return
  }
  const line = bytes.lastIndexOf(NEWLINE, run.from) + 1
  const margin = bytes.subarray(Math.max(line, body), run.from)
  while (run !== null) {
    found.add(run.from, run.to)
    run = run.to - run.from < MIN_RUN_BYTES ? null : nextRun(bytes, run.to, most, margin)
  }
}

/** The lines of base64 behind `Private-Lines: 4`. */
function addPutty(found: Findings, bytes: Buffer, from: number, open: boolean): void {
  const most = Math.min(bytes.length, from + MAX_PEM_BYTES)
  let at = endOfLine(bytes, from, most)
  for (;;) {
    const line = afterLineEnd(bytes, at, most)
    if (line === at) return
    const to = endOfRun(bytes, line, most)
    const isWhole = to === endOfLine(bytes, line, most)
    if (to === line || !isWhole) return
    if (open && to === bytes.length) found.addTentative(line, to)
    else if (to - line >= MIN_RUN_BYTES || line > from + MIN_RUN_BYTES) found.add(line, to)
    else return
    at = to
  }
}

interface Run {
  readonly from: number
  readonly to: number
}

/** Of base64 in one of the lines after the title: long enough, or at the very end, where it may go on. */
function firstRun(bytes: Buffer, body: number, most: number): Run | null {
  let at = body
  for (let line = 0; line < MAX_HEADER_LINES; line++) {
    const begins = afterLineEnd(bytes, at, most)
    if (begins === at) return null
    const end = endOfLine(bytes, begins, most)
    const isHeader = HEADER.test(bytes.toString('latin1', begins, Math.min(end, begins + MAX_TITLE_BYTES)))
    for (let from = begins; from < Math.min(end, begins + MAX_MARGIN_BYTES); ) {
      const to = endOfRun(bytes, from, end)
      const isLong = to - from >= MIN_RUN_BYTES
      if (to > from && !isHeader && (isLong || to === bytes.length)) return { from, to }
      from = to + 1
    }
    // The headers of an encrypted key, and the empty line behind them.
    if (end > begins && !isHeader) return null
    at = end
  }
  return null
}

/** Behind one line end, in a text or escaped; the same if there is none. */
function afterLineEnd(bytes: Buffer, from: number, most: number): number {
  let at = from
  while (bytes[at] === BACKSLASH && at < most) at += 2
  if (at > from) return at
  while (at < most && (isBlank(bytes[at]) || bytes[at] === RETURN)) at++
  return bytes[at] === NEWLINE ? at + 1 : from
}

function endOfLine(bytes: Buffer, from: number, most: number): number {
  let at = from
  while (at < most && !isLineEnd(bytes[at]) && bytes[at] !== BACKSLASH) at++
  return at
}

/** In the next line, behind the margin that all lines have. */
function nextRun(bytes: Buffer, from: number, most: number, margin: Buffer): Run | null {
  const line = afterLineEnd(bytes, from, most)
  if (line === from) return null
  const at = bytes[from] === BACKSLASH ? line : line + margin.length
  // A time may stand there, and so only how long it is and how it ends is compared.
  if (at > line && bytes[at - 1] !== margin.at(-1)) return null
  const to = endOfRun(bytes, at, most)
  return to > at ? { from: at, to } : null
}

function endOfRun(bytes: Buffer, from: number, most: number): number {
  let to = from
  while (to < most && isIn(bytes[to], BASE64)) to++
  return to
}

/** From the end of a block upwards: lines that are base64 and nothing else. */
function addLinesBefore(found: Findings, bytes: Buffer, closing: number): void {
  const least = Math.max(0, closing - MAX_PEM_BYTES)
  let behind = closing
  for (let line = 0; behind > least; line++) {
    let to = behind
    while (to > least && isLineEnd(bytes[to - 1])) to--
    const from = Math.max(least, bytes.lastIndexOf(NEWLINE, Math.max(0, to - 1)) + 1)
    if (to - from < (line === 0 ? 1 : MIN_LINE_BYTES) || !isAllBody(bytes, from, to)) return
    found.add(from, to)
    behind = from
  }
}

/** A masked line counts. A partly masked line was something else, a variable and its value. */
function isAllBody(bytes: Buffer, from: number, to: number): boolean {
  const isMasked = bytes[from] === STAR
  for (let at = from; at < to; at++)
    if (isMasked ? bytes[at] !== STAR : !isIn(bytes[at], BASE64)) return false
  return true
}
