/** The bytes of an address: 4 or 16. Null if the text is none. */
export function addressBytes(text: string): readonly number[] | null {
  return text.includes(':') ? v6Bytes(text) : v4Bytes(text)
}

/** Dotted decimal alone. What other notations mean is decided by the URL parser and the resolver, before an address gets here. */
function v4Bytes(text: string): readonly number[] | null {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part))) return null
  const bytes = parts.map(Number)
  return bytes.every((byte) => byte < 256) ? bytes : null
}

function v6Bytes(text: string): readonly number[] | null {
  const [address = ''] = text.split('%')
  const halves = address.split('::')
  if (halves.length > 2) return null
  const [head, tail] = halves.map((half) => (half === '' ? [] : groupBytes(half)))
  if (head === undefined || head === null || tail === null) return null
  if (tail === undefined) return head.length === 16 ? head : null
  const missing = 16 - head.length - tail.length
  // `::` stands for at least one group.
  return missing < 2 ? null : [...head, ...new Array<number>(missing).fill(0), ...tail]
}

/** The last group may be an IPv4 address. */
function groupBytes(half: string): number[] | null {
  const bytes: number[] = []
  const groups = half.split(':')
  for (const [index, group] of groups.entries()) {
    if (index === groups.length - 1 && group.includes('.')) {
      const last = v4Bytes(group)
      if (last === null) return null
      bytes.push(...last)
    } else {
      if (!/^[0-9a-f]{1,4}$/i.test(group)) return null
      const value = Number.parseInt(group, 16)
      bytes.push(value >> 8, value & 0xff)
    }
  }
  return bytes.length <= 16 ? bytes : null
}
