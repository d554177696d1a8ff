import { BACKSLASH, BASE64, isIn, isLineEnd, NEWLINE, STAR } from './characters.ts'
import type { Findings } from './findings.ts'

/** A block is masked for so many bytes, from its beginning or up to its end. No common key is longer than both together. */
export const MOST_PEM_BYTES = 4096

/**
 * What lies between `-----BEGIN … PRIVATE KEY-----` and its end, over lines. Only the base64 is masked, so that whatever a
 * program puts before each line stays; and only where base64 begins soon, so that a program that names such a line can be
 * read. Of a block whose beginning is not there any more, the lines before its end.
 */
export function findPrivateKeys(found: Findings, bytes: Buffer): void {
  let at = bytes.indexOf(BEGIN)
  while (at !== -1) {
    const body = behindTitle(bytes, at + BEGIN.length)
    if (body !== -1) addBlock(found, bytes, body)
    at = bytes.indexOf(BEGIN, at + BEGIN.length)
  }
  at = bytes.indexOf(END)
  while (at !== -1) {
    if (behindTitle(bytes, at + END.length) !== -1) addLinesBefore(found, bytes, at)
    at = bytes.indexOf(END, at + END.length)
  }
}

const BEGIN = Buffer.from('-----BEGIN ')
const END = Buffer.from('-----END ')
const TITLE = /^([A-Z0-9]+ ){0,3}PRIVATE KEY( BLOCK)?-----/
const LONGEST_TITLE = 64
/** Before the base64: line ends, a margin, and what an encrypted key says of itself. Between its lines: the first two. */
const MOST_BEFORE = 200
const MOST_BETWEEN = 64
const LEAST_RUN = 24
const LEAST_LINE = 16

function behindTitle(bytes: Buffer, at: number): number {
  const title = TITLE.exec(bytes.toString('latin1', at, Math.min(bytes.length, at + LONGEST_TITLE)))
  return title === null ? -1 : at + title[0].length
}

function addBlock(found: Findings, bytes: Buffer, body: number): void {
  const most = Math.min(bytes.length, body + MOST_PEM_BYTES)
  const closing = bytes.subarray(body, most).indexOf(END)
  const isClosed = closing !== -1
  const to = isClosed ? body + closing : most
  let run = nextRun(bytes, body, Math.min(to, body + MOST_BEFORE), LEAST_RUN, to)
  while (run !== null) {
    found.add(run.from, run.to)
    // Up to an end that is in sight all of it is the key; else as long as it looks like one.
    run = isClosed
      ? nextRun(bytes, run.to, to, 2, to)
      : nextRun(bytes, run.to, Math.min(to, run.to + MOST_BETWEEN), LEAST_RUN, to)
  }
}

interface Run {
  readonly from: number
  readonly to: number
}

/** The next characters of base64, at least so many, that begin before `before`. */
function nextRun(bytes: Buffer, from: number, before: number, least: number, to: number): Run | null {
  let at = from
  while (at < before) {
    let end = at
    while (end < to && isBody(bytes[end])) end++
    // The last run may go on behind what can be seen.
    if (end - at >= least || (end > at && end === bytes.length)) return { from: at, to: end }
    // An escaped line end is two characters, and stays readable.
    at = bytes[end] === BACKSLASH ? end + 2 : end + 1
  }
  return null
}

function isBody(byte: number | undefined): boolean {
  return isIn(byte, BASE64) || byte === STAR
}

/** From the end of a block upwards: lines that are base64 and nothing else. */
function addLinesBefore(found: Findings, bytes: Buffer, closing: number): void {
  const least = Math.max(0, closing - MOST_PEM_BYTES)
  let behind = closing
  for (let line = 0; behind > least; line++) {
    let to = behind
    while (to > least && isLineEnd(bytes[to - 1])) to--
    const from = Math.max(least, bytes.lastIndexOf(NEWLINE, Math.max(0, to - 1)) + 1)
    if (to - from < (line === 0 ? 1 : LEAST_LINE) || !isAllBody(bytes, from, to)) return
    found.add(from, to)
    behind = from
  }
}

function isAllBody(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (!isBody(bytes[at])) return false
  return true
}
