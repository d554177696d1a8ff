import type { GlobalOptions } from '../global-options.ts'
import { words } from '../word-table.ts'
import { quoted } from './status.ts'

const CALL = new RegExp(`\\breeve (?=(?:${words.names.join('|')})\\b)`, 'g')

/** A hint that names a word of `reeve`, with the options that lead to the same daemon: copied, it must not reach another. */
export function hintFor({ home, url }: Pick<GlobalOptions, 'home' | 'url'>, text: string): string {
  const where = [
    ...(home === undefined ? [] : [`--home ${quoted(home)}`]),
    ...(url === undefined ? [] : [`--url ${quoted(url)}`]),
  ]
  return where.length === 0 ? text : text.replaceAll(CALL, () => `reeve ${where.join(' ')} `)
}
