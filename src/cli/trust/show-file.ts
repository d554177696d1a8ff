import { isObject } from '../../base/is-object.ts'
import type { OutputOf } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import { imageLines } from '../print/image-lines.ts'
import { literal } from '../print/literal.ts'

type ShownFile = OutputOf<'agentFile'>

/** Of a hash, enough to name one version. */
const SHOWN_HASH_CHARS = 12

/** Prints all that a file says, with each character visible: a person decides by it whether to trust the file. */
export function showFile({ print }: Pick<Context<object>, 'print'>, shown: ShownFile): void {
  const { file, allowedTools, files } = shown
  const { bold, dim } = print.colours
  print.line(
    `${bold(literal(file.path))} ${dim(literal(`${file.kind} ${file.name}, ${file.state}, hash ${shortHash(file.hash)}`))}`,
  )
  // An image and hooks say the same in what follows.
  if (file.description !== '' && file.kind !== 'hooks' && file.kind !== 'image')
    print.line(literal(file.description))
  if (file.problem !== null) print.line(literal(file.problem))
  if (allowedTools.length > 0) print.line(literal(`allowed-tools: ${allowedTools.join(', ')}`))
  if (files.length > 0) print.line(literal(`files: ${files.join(', ')}`))
  for (const line of contentLines(shown)) print.line(literal(line))
}

export function shortHash(hash: string): string {
  return hash.slice(0, SHOWN_HASH_CHARS)
}

function contentLines({ file, text }: ShownFile): readonly string[] {
  if (text === '') return []
  if (file.kind !== 'image') return ['', text]
  const image: unknown = JSON.parse(text)
  return isObject(image) ? imageLines(image) : [text]
}
