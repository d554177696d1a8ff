/** One replacement: `oldText` must be in the text exactly once, unless `replaceAll`. */
export interface Edit {
  readonly oldText: string
  readonly newText: string
  readonly replaceAll?: boolean | undefined
}

export type EditAnswer =
  /** `lines`: the first line of each edit in the new text, from 1. */
  | {
      readonly type: 'edited'
      readonly text: string
      readonly count: number
      readonly lines: readonly number[]
    }
  | { readonly type: 'refused'; readonly index: number; readonly reason: EditProblem }

export type EditProblem =
  | { readonly type: 'not_found' }
  | { readonly type: 'not_unique'; readonly count: number; readonly lines: readonly number[] }
  | { readonly type: 'no_change' }

/** Applies edits one after the other, each to the result of those before it: all of them, or none. */
export function applyEdits(text: string, edits: readonly Edit[]): EditAnswer {
  let edited = text
  let count = 0
  const starts: number[] = []
  for (const [index, { oldText, newText, replaceAll = false }] of edits.entries()) {
    if (oldText === newText || oldText === '')
      return { type: 'refused', index, reason: { type: 'no_change' } }
    const found = placesOf(edited, oldText)
    if (found.length === 0) return { type: 'refused', index, reason: { type: 'not_found' } }
    if (found.length > 1 && !replaceAll) {
      const lines = found.slice(0, MAX_SHOWN_LINES).map((place) => lineAt(edited, place))
      return { type: 'refused', index, reason: { type: 'not_unique', count: found.length, lines } }
    }
    starts.push(found[0] ?? 0)
    count += found.length
    // Not String.replace: it would interpret `$&` in the new text.
    edited = edited.split(oldText).join(newText)
  }
  return { type: 'edited', text: edited, count, lines: starts.map((place) => lineAt(edited, place)) }
}

/** Enough to find the places. */
const MAX_SHOWN_LINES = 10

function placesOf(text: string, part: string): readonly number[] {
  const places: number[] = []
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) places.push(at)
  return places
}

function lineAt(text: string, place: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < place; at = text.indexOf('\n', at + 1)) line += 1
  return line
}
