import type { GlobalOptions } from '../global-options.ts'
import { subcommands } from '../subcommand-table.ts'
import { quoted } from './status.ts'

const CALL = new RegExp(`\\breeve (?=(?:${subcommands.names.join('|')})\\b)`, 'g')

/** Adds the options that select this daemon to the `reeve` calls in a hint: a copied call must not reach another daemon. */
export function hintFor({ home, url }: Pick<GlobalOptions, 'home' | 'url'>, text: string): string {
  const where = [
    ...(home === undefined ? [] : [`--home ${quoted(home)}`]),
    ...(url === undefined ? [] : [`--url ${quoted(url)}`]),
  ]
  return where.length === 0 ? text : text.replaceAll(CALL, () => `reeve ${where.join(' ')} `)
}
