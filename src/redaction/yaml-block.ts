import { indexWhere, isBlank, NEWLINE, RETURN } from './characters.ts'
import type { Findings } from './findings.ts'
import { endsLine } from './line-start.ts'

/** A YAML block is read up to this length; a reader looks back further. */
export const MAX_BLOCK_BYTES = 512

/** The text of a YAML block scalar (`password: |`), on the indented lines below its name. */
export function yamlBlockBelow(
  found: Findings,
  name: number,
  header: number,
): { readonly from: number; readonly to: number } | null {
  const { bytes, end } = found
  const indent = (from: number) => indexWhere(bytes, from, end, (byte) => !isBlank(byte)) - from
  // A search from -1 would begin at the last byte.
  const line = name === 0 ? 0 : bytes.lastIndexOf(NEWLINE, name - 1) + 1
  const least = indent(line) + 1
  const from = header + (bytes[header] === RETURN ? 2 : 1)
  let to = from
  for (let at = from; at < Math.min(end, from + MAX_BLOCK_BYTES) && indent(at) >= least; ) {
    to = indexWhere(bytes, at, Math.min(end, from + MAX_BLOCK_BYTES), endsLine)
    at = to + (bytes[to] === RETURN ? 2 : 1)
  }
  const text = from + indent(from)
  if (to <= text) return null
  return { from: text, to }
}
