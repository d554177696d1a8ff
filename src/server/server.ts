import { hostname, networkInterfaces } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { PERSON_NAME, type Person } from '../core/authority/person.ts'
import { userName } from '../os/user-name.ts'
import type { ReeveVerbs } from '../verbs/reeve.ts'
import { appOf, type MountedHandler } from './app.ts'
import { actingFor, type Caller } from './caller.ts'
import { type Door, Guard } from './guard.ts'
import { LateTerminals } from './late-terminals.ts'
import { LIMITS, type Limits, type ListenAddress, Listener } from './listen.ts'
import { Metrics, type ServerCounts } from './metrics.ts'
import type { Log, Served } from './served.ts'
import type { StreamTimes } from './streams/answer.ts'
import type { Tokens } from './tokens.ts'

export type { MountedHandler } from './app.ts'

export interface ServeOptions {
  readonly reeve: Served
  /** The path of a Unix socket. A client that can open it acts as the user. */
  readonly socket?: string
  /** Port 0 takes any free port. */
  readonly listen?: Exclude<ListenAddress, { readonly path: string }>
  /** Further host names for this address; with a port if it differs. */
  readonly hosts?: readonly string[]
  readonly tokens: Tokens
  /** The user may be asked at the client of an agent on the socket. */
  readonly approver?: boolean
  /** The version of Reeve. */
  readonly version: string
  readonly log: Log
  readonly mount?: Readonly<Record<string, MountedHandler>>
  readonly limits?: Partial<Limits>
  /** How long answers of streams are held open. */
  readonly streams?: Partial<StreamTimes>
}

export interface Server {
  /** Null if it listens on its socket only. */
  readonly url: string | null
  /** Where it listens; null as above. The address may be a wildcard. */
  readonly address: { readonly address: string; readonly port: number } | null
  acting(caller: Caller): ReeveVerbs
  /** Resolves when no request about these ended processes is pending, or after a limit, so that their waits are answered. */
  told(pids: readonly string[]): Promise<void>
  /** Answers since the start, and open connections. */
  counted(): ServerCounts
  close(): Promise<void>
}

/**
 * A client that follows a process sends one request after the other, and may be between two of them, so requests must be absent
 * for a while.
 */
const QUIET_MS = 200
const MAX_TOLD_MS = 5_000
const CHECK_MS = 10

/** Serves every verb over HTTP, on a Unix socket, on an address, or on both. Listens when it resolves. */
export async function serve(options: ServeOptions): Promise<Server> {
  const { reeve, tokens, log, mount = {} } = options
  const limits = { ...LIMITS, ...options.limits }
  const { requestsPerToken } = limits
  const guard = new Guard(tokens, {
    requestsPerToken,
    user: { person: ownPerson(), approver: options.approver ?? false },
  })
  const metrics = new Metrics()
  const closing = new AbortController()
  const { signal } = closing
  const app = appOf({
    reeve,
    guard,
    log,
    metrics,
    mount,
    bodyBytes: limits.bodyBytes,
    closing: signal,
    streams: options.streams ?? {},
    version: options.version,
  })
  const terminals = new LateTerminals({ reeve, guard, log, closing: signal })
  const listeners: Listener[] = []
  metrics.countConnections(() => listeners.reduce((sum, { connections }) => sum + connections, 0))
  const close = async () => {
    closing.abort()
    await terminals.close()
    await Promise.all(listeners.map((listener) => listener.close()))
  }
  const told = async (pids: readonly string[]) => {
    const areAsking = () =>
      pids.some((pid) => terminals.show(pid) || listeners.some((door) => door.hears(pid)))
    if (pids.length === 0) return
    const until = Date.now() + MAX_TOLD_MS
    for (let since = Date.now(); Date.now() < Math.min(until, since + QUIET_MS); await sleep(CHECK_MS))
      if (areAsking()) since = Date.now()
  }
  let url: string | null = null
  let address: Server['address'] = null
  try {
    if (options.socket !== undefined)
      listeners.push(
        await Listener.open({ path: options.socket }, app, () => ({ by: 'socket' }), limits, terminals),
      )
    if (options.listen !== undefined) {
      const { host, tls } = options.listen
      const door = (port: number): Door => ({
        by: 'tcp',
        hosts: new Set([
          ...hostsOf(namesOf(host), port, tls === undefined ? 80 : 443),
          ...(options.hosts ?? []).flatMap((name) => furtherHosts(name.toLowerCase(), port)),
        ]),
      })
      const listener = await Listener.open(options.listen, app, door, limits, terminals)
      listeners.push(listener)
      url = `${tls === undefined ? 'http' : 'https'}://${inUrl(WILDCARDS.get(host) ?? host)}:${listener.port}`
      address = listener.bound
    }
  } catch (error) {
    await close()
    throw error
  }
  return {
    url,
    address,
    acting: (caller) => actingFor(reeve, caller),
    counted: () => metrics.counted,
    told,
    close,
  }
}

/** The user that this program runs as. Characters that no name of a person has become `_`. */
function ownPerson(): Person {
  const name = userName()
    .replaceAll(/[^\p{L}\p{N}._@+-]/gu, '_')
    .slice(0, 63)
  return `human:${PERSON_NAME.test(name) ? name : `_${name}`}`
}

/** Wildcard addresses, and the loopback addresses under which they are reached. */
const WILDCARDS = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
])

/** The host names of an address: itself, or for a wildcard all names and addresses of this machine. */
function namesOf(host: string): readonly string[] {
  if (!WILDCARDS.has(host)) return [host]
  const addresses = Object.values(networkInterfaces()).flatMap(
    (all) => all?.map(({ address }) => address) ?? [],
  )
  return [hostname(), ...addresses]
}

/** A proxy may listen on another port, so a further name is accepted with and without the port. */
function furtherHosts(name: string, port: number): string[] {
  return /:\d+$/.test(name) ? [name] : [name, `${name}:${port}`]
}

/** All accepted values of a `Host` header, in lower case. A default port may be omitted. */
function hostsOf(names: readonly string[], port: number, usual: number): ReadonlySet<string> {
  const all = ['localhost', '127.0.0.1', '[::1]', ...names.map(inUrl)].map((name) => name.toLowerCase())
  return new Set([...all.map((name) => `${name}:${port}`), ...(port === usual ? all : [])])
}

function inUrl(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}
