import { isIPv6, type Socket } from 'node:net'

/**
 * The network that one client can have all addresses of: an IPv4 address, or the /64 of an IPv6 address. Limits per address
 * count by it, because a host with a /64 can use a new address for each connection.
 */
export function networkOf(address: string): string {
  const [plain = ''] = address.split('%')
  const [, mapped] = /^::ffff:([0-9]+(?:\.[0-9]+){3})$/i.exec(plain) ?? []
  if (mapped !== undefined) return mapped
  return isIPv6(plain) ? `${groupsOf(plain).slice(0, 4).join(':')}::/64` : plain
}

/** From sockets in the order of their arrival: the oldest one of the network that has the most sockets. */
export function oldestOfBusiestNetwork(sockets: Iterable<Socket>): Socket | undefined {
  const byNetwork = new Map<string, Socket[]>()
  for (const socket of sockets) {
    const network = networkOf(socket.remoteAddress ?? '')
    const ofNetwork = byNetwork.get(network)
    if (ofNetwork === undefined) byNetwork.set(network, [socket])
    else ofNetwork.push(socket)
  }
  let busiest: readonly Socket[] = []
  for (const ofNetwork of byNetwork.values()) if (ofNetwork.length > busiest.length) busiest = ofNetwork
  return busiest[0]
}

/** The eight groups of a valid IPv6 address, without leading zeros. */
function groupsOf(address: string): readonly string[] {
  // A dotted tail stands for the last two groups, which come after the first 64 bits.
  const [head = '', tail] = address.replace(/[0-9]+(\.[0-9]+){3}$/, '0:0').split('::')
  const split = (part: string) => (part === '' ? [] : part.split(':').map((group) => trimmed(group)))
  if (tail === undefined) return split(head)
  const [before, after] = [split(head), split(tail)]
  return [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after]
}

function trimmed(group: string): string {
  return Number.parseInt(group, 16).toString(16)
}
