import type { Fragment } from '../../model/model.ts'
import type { Stream } from '../../output-log/log-format.ts'

/** The streams of a live log. */
type LiveStream = Extract<Stream, 'text' | 'thinking' | 'tool_arguments' | 'label'>

export interface LabelledText {
  readonly stream: LiveStream
  readonly text: string
}

/** Where a live log is: the part of the answer that was written last, and whether its last byte ended a line. */
export interface LabelState {
  /** Null before the first part of a call. */
  readonly part: number | null
  readonly isLineStart: boolean
}

/**
 * The text of a fragment, with a label where another part begins: a line break, and the name of the tool whose arguments
 * follow. Labels are a stream of their own, so a secret that a cut call leaves in two parts is one text for the masking.
 *
 * A fragment of an earlier part is left out. Pieces of two parts that take turns would hide a secret in each of them from the
 * masking; providers send one part after the other.
 */
export function labelFragment(
  state: LabelState,
  fragment: Fragment,
): { readonly state: LabelState; readonly texts: readonly LabelledText[] } {
  if (fragment.type === 'begun') return { state: { ...state, part: null }, texts: [] }
  const { type, part, text } = fragment
  if (state.part !== null && part < state.part) return { state, texts: [] }
  const isNew = part !== state.part
  const label = isNew ? labelOf(fragment, state.isLineStart) : ''
  if (text === '' && (!isNew || type !== 'tool_arguments')) return { state, texts: [] }
  const texts: LabelledText[] = [
    { stream: 'label', text: label },
    { stream: type, text },
  ]
  const written = texts.filter((one) => one.text !== '')
  return { state: { part, isLineStart: written.at(-1)?.text.endsWith('\n') ?? false }, texts: written }
}

function labelOf(fragment: Exclude<Fragment, { type: 'begun' }>, isLineStart: boolean): string {
  const lineBreak = isLineStart ? '' : '\n'
  return fragment.type === 'tool_arguments' ? `${lineBreak}${fragment.tool} ` : lineBreak
}
