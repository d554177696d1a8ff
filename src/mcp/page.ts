import * as z from 'zod'

/** The default size of an answer: about one page. */
export const PAGE_CHARS = 4_000

const MAX_PAGE_CHARS = 100_000

export const maxChars = z
  .number()
  .int()
  .min(100)
  .max(MAX_PAGE_CHARS)
  .default(PAGE_CHARS)
  .describe('most characters')

/** Reserved for the text around an output. A small page reserves half, and at least a pid and one short note. */
const AROUND_CHARS = 700
const MIN_AROUND_CHARS = 70

/** How many characters of output fit on a page. In structured content each may take two. */
export function outputRoom(most: number, structured: boolean): number {
  if (structured) return Math.max(30, Math.floor((most - AROUND_CHARS) / 2))
  return most - Math.min(AROUND_CHARS, Math.max(MIN_AROUND_CHARS, Math.floor(most / 2)))
}

/** The `maxChars` of a page with this much room for output; null if no page is that large. */
export function charsFor(room: number): number | null {
  const chars = Math.max(room + AROUND_CHARS, 2 * AROUND_CHARS)
  return chars > MAX_PAGE_CHARS ? null : chars
}

export interface Page {
  /** What happened. It is cut to the room that is left. */
  readonly head: string
  /** Output, read with `outputRoom`, so that it fits. */
  readonly body: string
  /** Hints and next steps, the most important first. Those that do not fit are left out. */
  readonly notes?: readonly string[]
}

/** The text of an answer, with no more than `most` characters. */
export function pageOf({ head, body, notes = [] }: Page, most: number): string {
  let room = most - (body === '' ? 0 : body.length + 1)
  const kept: string[] = []
  for (const note of notes) {
    const headLeast = Math.min(head.length, note.length <= SHORT_NOTE ? PID_CHARS : MIN_HEAD_CHARS)
    if (note.length + 1 > room - headLeast) continue
    kept.push(note)
    room -= note.length + 1
  }
  const parts = [cut(head, Math.max(room, 0)), body, ...kept]
  return cut(parts.filter((part) => part !== '').join('\n'), most)
}

const MIN_HEAD_CHARS = 80
/** A short note, such as "there is more output", matters more than the end of the head. */
const SHORT_NOTE = 60
const PID_CHARS = 20

/** As many items from one end as fit, at least one. */
export function fitting<Item>(
  items: readonly Item[],
  sizeOf: (item: Item) => number,
  most: number,
  from: 'start' | 'end' = 'start',
): Item[] {
  const ordered = from === 'start' ? items : items.toReversed()
  let size = 0
  let count = 0
  for (const item of ordered) {
    size += sizeOf(item)
    if (count > 0 && size > most) break
    count++
  }
  const kept = ordered.slice(0, count)
  return from === 'start' ? kept : kept.reverse()
}

/** Cuts a text to `most` UTF-16 code units, marks the cut, and never cuts within a character. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text
  if (most < 1) return ''
  const end = /[\uD800-\uDBFF]/.test(text[most - 2] ?? '') ? most - 2 : most - 1
  return `${text.slice(0, Math.max(end, 0))}…`
}

/** The part of a text around an index, with marks at the cuts. */
export function cutAround(text: string, at: number, most: number): string {
  const before = Math.floor(most / 3)
  if (text.length <= most || at <= before) return cut(text, most)
  const start = Math.min(at - before, text.length - most + 1)
  const isWithin = /[\uDC00-\uDFFF]/.test(text[start] ?? '')
  return `…${cut(text.slice(isWithin ? start + 1 : start), most - 1)}`
}

/** The end of a text, from the start of a line if possible. */
export function tail(text: string, most: number): string {
  if (text.length <= most) return text
  const end = text.slice(-most)
  const line = end.indexOf('\n')
  return line === -1 || line === end.length - 1 ? end : end.slice(line + 1)
}
