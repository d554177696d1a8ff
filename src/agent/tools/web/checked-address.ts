import { lookup as resolveName } from 'node:dns/promises'
import { networkInterfaces } from 'node:os'
import type { Need } from '../../../core/capability/need.ts'
import { internalKindOf, sameAddressText } from '../../../core/net/internal-address.ts'
import { addressBytes } from '../../../core/net/ip-address.ts'
import { ToolError } from '../agent-tool.ts'

export interface NetParts {
  /** Whether a capability names this address, and with `byPort` its port: `isNamed` of the agent's rule sets. */
  readonly isNamed: (need: Need, byPort?: boolean) => boolean | Promise<boolean>
  /** Where Reeve itself listens. */
  readonly ownAddresses: () => readonly { readonly address: string; readonly port: number }[]
  /** Resolves a name; that of the operating system by default. */
  readonly resolve?: (host: string) => Promise<readonly ResolvedAddress[]>
}

export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

/**
 * The addresses that a request to this URL may connect to. The caller connects to one of them and resolves nothing again, so a name
 * cannot change its address between check and use. One refused address refuses the name: a client would try them all.
 */
export async function checkedAddresses(url: URL, parts: NetParts): Promise<readonly ResolvedAddress[]> {
  const host = hostOf(url)
  const literal = addressBytes(host)
  const addresses =
    literal === null
      ? await (parts.resolve ?? resolveAll)(host).catch(() => {
          throw new ToolError('fetch_failed', `The name ${host} cannot be resolved.`)
        })
      : [{ address: host, family: literal.length === 4 ? 4 : 6 }]
  if (addresses.length === 0) throw new ToolError('fetch_failed', `The name ${host} has no address.`)
  for (const { address } of addresses) await refuseInternal(url, address, parts)
  return addresses
}

/** Throws if this address is internal, or Reeve's own, and no capability names it. */
export async function refuseInternal(url: URL, address: string, parts: NetParts): Promise<void> {
  const port = portOf(url)
  const isOwn = parts.ownAddresses().some((own) => own.port === port && isSameHost(own.address, address))
  const kind = isOwn ? "Reeve's own" : internalKindOf(address)
  if (kind === undefined) return
  const host = hostOf(url)
  // A rule for every port of this machine does not include Reeve's own.
  // A rule for another name does not open an internal address: the owner of that name chooses its address.
  const names = host === 'localhost' ? [address, host] : [address]
  for (const name of names) if (await parts.isNamed(netNeed(name, port), isOwn)) return
  const shown = address === host ? address : `${host} (${address})`
  const resource = `net:${address.includes(':') ? `[${address}]` : address}:${port}`
  throw new ToolError(
    'address_refused',
    `${shown} is an internal address (${kind}), which web_fetch does not reach. Only a rule that allows ${resource} opens it; reach a local server with a command.`,
    { address, port },
  )
}

export function netNeed(host: string, port: number): Need {
  return { right: 'read', resource: { kind: 'net', host, port }, attributes: { method: 'GET' } }
}

/** Without the brackets of IPv6 and a final dot. The URL parser has turned other forms of IPv4 into dotted decimal. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
}

export function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
}

async function resolveAll(host: string): Promise<readonly ResolvedAddress[]> {
  return resolveName(host, { all: true, verbatim: true })
}

/** A server at 0.0.0.0 or :: listens at every address of this machine. */
function isSameHost(own: string, address: string): boolean {
  if (sameAddressText(own) === sameAddressText(address)) return true
  if (own !== '0.0.0.0' && own !== '::') return false
  const local = Object.values(networkInterfaces()).flatMap((found) => found ?? [])
  return local.some((found) => sameAddressText(found.address) === sameAddressText(address))
}
