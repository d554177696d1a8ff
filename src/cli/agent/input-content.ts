import { resolve } from 'node:path'
import type { InputOf } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import type { AgentOptions } from './agent-options.ts'

/** The text, and the files that `--file` names. */
export function contentIn(
  { options, around }: Context<AgentOptions>,
  text: string,
): Pick<InputOf<'runAgent'>, 'text' | 'parts'> {
  if (options.file.length === 0) return { text }
  const files = options.file.map((file) => ({ type: 'reference', path: resolve(around.cwd, file) }) as const)
  return { parts: [{ type: 'text', text }, ...files] }
}
