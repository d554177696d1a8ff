import type { NameBefore } from './name-before.ts'
import type { SecretKind } from './secret-kind.ts'
import { secretKindOf } from './secret-name.ts'
import { textOf } from './text-of.ts'

const MAX_PAIR_BYTES = 200
const PAIR =
  /(?:name|key|header)\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?([A-Za-z][\w.-]{1,63})\\?["']?\s{0,4}[,;]?\s{0,40}[{]?\s{0,4}\\?["']?$/i
const BLOCK = /\bvariable\s{1,4}"([A-Za-z][\w-]{1,63})"\s{0,4}\{[^{}]*$/

/**
 * The kind of a pair's value, by the name before it: `{"name": "DB_PASSWORD", "value": "…"}`, also over two lines,
 * and `<add key="ApiKey" value="…"/>`; what the default of a variable of Terraform is, by the name of its block.
 */
export function pairedName(bytes: Uint8Array, { text, from }: NameBefore): SecretKind | null {
  if (text === 'default') {
    const variable = BLOCK.exec(textOf(bytes, Math.max(0, from - MAX_PAIR_BYTES), from))?.[1]
    return variable === undefined ? null : secretKindOf(variable)
  }
  if (!/^val(?:ue)?$|^(?:string|secret)Value$/i.test(text)) return null
  const name = PAIR.exec(textOf(bytes, Math.max(0, from - MAX_PAIR_BYTES), from))?.[1]
  return name === undefined ? null : secretKindOf(name)
}
