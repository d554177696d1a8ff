import { addressBytes } from './ip-address.ts'

/** Blocks of addresses that are not on the public internet, as prefixes. */
const INTERNAL_V4: readonly Block[] = [
  block('0.0.0.0', 8, 'this host'),
  block('10.0.0.0', 8, 'private'),
  block('100.64.0.0', 10, 'shared by providers'),
  block('127.0.0.0', 8, 'loopback'),
  block('169.254.0.0', 16, 'link-local'),
  block('172.16.0.0', 12, 'private'),
  block('192.0.0.0', 24, 'reserved'),
  block('192.0.2.0', 24, 'documentation'),
  block('192.88.99.0', 24, 'relay'),
  block('192.168.0.0', 16, 'private'),
  block('198.18.0.0', 15, 'benchmarks'),
  block('198.51.100.0', 24, 'documentation'),
  block('203.0.113.0', 24, 'documentation'),
  block('224.0.0.0', 4, 'multicast'),
  block('240.0.0.0', 4, 'reserved'),
]

const INTERNAL_V6: readonly Block[] = [
  block('::1', 128, 'loopback'),
  block('::', 128, 'this host'),
  block('100::', 64, 'discard'),
  block('2001:db8::', 32, 'documentation'),
  block('3fff::', 20, 'documentation'),
  block('5f00::', 16, 'segment routing'),
  block('fc00::', 7, 'private'),
  block('fe80::', 10, 'link-local'),
  block('fec0::', 10, 'private'),
  block('ff00::', 8, 'multicast'),
]

/** IPv6 addresses that carry an IPv4 address, and where: the carried one decides as well. */
const CARRIERS: readonly { readonly block: Block; readonly at: number; readonly inverted?: true }[] = [
  { block: block('::', 96, 'IPv4-compatible'), at: 12 },
  { block: block('::ffff:0:0', 96, 'IPv4-mapped'), at: 12 },
  { block: block('::ffff:0:0:0', 96, 'IPv4-translated'), at: 12 },
  { block: block('64:ff9b::', 96, 'NAT64'), at: 12 },
  { block: block('2002::', 16, '6to4'), at: 2 },
  { block: block('2001::', 32, 'Teredo'), at: 12, inverted: true },
]

/** Carries an address at a place that the network chooses. */
const LOCAL_NAT64 = block('64:ff9b:1::', 48, 'local NAT64')

interface Block {
  readonly prefix: readonly number[]
  readonly bits: number
  readonly name: string
}

/**
 * What kind of internal address this is: loopback, private, link-local, multicast, reserved, in any form of IPv4 or IPv6.
 * Undefined for an address of the public internet. A text that is not an address counts as internal.
 */
export function internalKindOf(address: string): string | undefined {
  const bytes = addressBytes(address)
  if (bytes === null) return 'unknown'
  if (bytes.length === 4) return kindIn(INTERNAL_V4, bytes)
  const own = kindIn([...INTERNAL_V6, LOCAL_NAT64], bytes)
  if (own !== undefined) return own
  for (const { block, at, inverted } of CARRIERS) {
    if (!isIn(block, bytes)) continue
    const carried = bytes.slice(at, at + 4).map((byte) => (inverted ? byte ^ 0xff : byte))
    const kind = kindIn(INTERNAL_V4, carried)
    if (kind !== undefined) return `${kind}, as ${block.name}`
  }
  return undefined
}

/** One text for each address, so that its forms can be compared: an IPv4 address that an IPv6 one maps is that IPv4 address. */
export function sameAddressText(address: string): string {
  const bytes = addressBytes(address)
  if (bytes === null) return address
  const mapped = CARRIERS[1]
  if (bytes.length === 16 && mapped !== undefined && isIn(mapped.block, bytes))
    return bytes.slice(12).join('.')
  return bytes.length === 4
    ? bytes.join('.')
    : bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

function kindIn(blocks: readonly Block[], bytes: readonly number[]): string | undefined {
  return blocks.find((one) => isIn(one, bytes))?.name
}

function isIn({ prefix, bits }: Block, bytes: readonly number[]): boolean {
  const whole = Math.floor(bits / 8)
  const rest = 8 - (bits % 8)
  if (!prefix.slice(0, whole).every((byte, index) => byte === bytes[index])) return false
  return rest === 8 || (prefix[whole] ?? 0) >> rest === (bytes[whole] ?? 0) >> rest
}

function block(address: string, bits: number, name: string): Block {
  const prefix = addressBytes(address)
  if (prefix === null) throw new Error(`${address} is no address`)
  return { prefix, bits, name }
}
