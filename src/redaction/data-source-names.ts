import { COLON, EQUALS, isBlank, isQuote, SLASH } from './characters.ts'
import type { Findings } from './findings.ts'
import { endsLine } from './line-start.ts'
import { looksGenerated } from './secret-value.ts'
import { textOf } from './text-of.ts'
import { isExamplePassword, isPlaceholder } from './urls.ts'

const PROTOCOLS = ['@tcp(', '@unix('].map((text) => Buffer.from(text))
const MAX_CREDENTIALS_BYTES = 256

/** The password of a data source name of Go's MySQL driver: `user:password@tcp(host:3306)/database`. */
export function findDataSourceNames(found: Findings, bytes: Buffer): void {
  const { start, end } = found
  for (const protocol of PROTOCOLS)
    for (
      let at = bytes.indexOf(protocol, start);
      at !== -1 && at < end;
      at = bytes.indexOf(protocol, at + protocol.length)
    ) {
      const from = passwordBefore(bytes, start, at)
      if (from !== -1 && !isExamplePassword(bytes, from, at)) found.add(from, at)
    }
  if (found.open) findBegun(found)
}

/** The start of the password that ends at `at`: after the first colon of its word; -1 if there is none. */
function passwordBefore(bytes: Uint8Array, start: number, at: number): number {
  const first = Math.max(start, at - MAX_CREDENTIALS_BYTES)
  let from = -1
  for (let offset = at - 1; offset >= first && !endsName(bytes[offset]); offset--)
    if (bytes[offset] === COLON) from = offset + 1
  const isUrl = bytes[from] === SLASH && bytes[from + 1] === SLASH
  return from === -1 || from === at || isUrl || isPlaceholder(bytes[from]) ? -1 : from
}

/** The last word may become a data source name. Until that is known, only a password that looks generated is masked. */
function findBegun(found: Findings): void {
  const { bytes, start, end } = found
  const password = passwordBefore(bytes, start, end)
  if (password === -1) return
  const [text = '', ...behind] = textOf(bytes, password, end).split('@')
  const protocol = behind.at(-1)
  if (protocol !== undefined && !PROTOCOLS.some((known) => known.toString().startsWith(`@${protocol}`)))
    return
  found.addTentative(password, looksGenerated(text) ? end : password)
}

function endsName(byte: number | undefined): boolean {
  return isBlank(byte) || isQuote(byte) || endsLine(byte) || byte === EQUALS
}
