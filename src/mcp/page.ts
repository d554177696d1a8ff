import * as z from 'zod'

/** About a page: what a model is given unless it asks for more. */
export const PAGE_CHARS = 4_000

export const maxChars = z
  .number()
  .int()
  .min(100)
  .max(100_000)
  .default(PAGE_CHARS)
  .describe('how much output to answer with at most')

/** As many from one end as fit, at least one. */
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

/** Cuts between characters, never within one. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text
  const end = /[\uD800-\uDBFF]/.test(text[most - 1] ?? '') ? most - 1 : most
  return `${text.slice(0, end)}…`
}

/** The end of a text, beginning with a whole line where there is one. */
export function tail(text: string, most: number): string {
  if (text.length <= most) return text
  const end = text.slice(-most)
  const line = end.indexOf('\n')
  return line === -1 || line === end.length - 1 ? end : end.slice(line + 1)
}
