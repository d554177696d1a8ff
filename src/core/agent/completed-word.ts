/** The word at the end of a typed text that can be completed; null if it is neither a slash command nor a reference to a file. */
export type CompletedWord = {
  readonly type: 'command' | 'file'
  /** Where it begins in the text. */
  readonly from: number
  /** Without the mark before it. */
  readonly begun: string
} | null

export function completedWord(text: string): CompletedWord {
  const command = /^\/(?<begun>[\w.:-]*)$/.exec(text)?.groups?.['begun']
  if (command !== undefined) return { type: 'command', from: 0, begun: command }
  const file = /(?:^|\s)@(?<begun>\S*)$/.exec(text)?.groups?.['begun']
  if (file === undefined) return null
  return { type: 'file', from: text.length - file.length - 1, begun: file }
}
