import { resolve } from 'node:path'
import type { InputOf } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import type { AgentOptions } from './agent-options.ts'

/** The text, and the files that `--file` names. */
export function contentIn(
  { options, around }: Context<AgentOptions>,
  text: string,
): Pick<InputOf<'runAgent'>, 'text' | 'parts'> {
  if (options.file.length === 0) return typedContent(text)
  const files = options.file.map((file) => ({ type: 'reference', path: resolve(around.cwd, file) }) as const)
  const { parts: typed = [{ type: 'text', text }] } = typedContent(text)
  return { parts: [...typed, ...files] }
}

/** A line that begins with the name of a slash command is one; a path has more slashes. */
export function typedContent(text: string): Pick<InputOf<'runAgent'>, 'text' | 'parts'> {
  const { name, rest } = /^\/(?<name>[\w.:-]+)(?:\s+(?<rest>\S.*))?$/s.exec(text)?.groups ?? {}
  if (name === undefined) return { text }
  return { parts: [{ type: 'command', name, ...(rest === undefined ? {} : { arguments: rest }) }] }
}
