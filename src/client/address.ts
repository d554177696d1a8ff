import { readFileSync } from 'node:fs'
import { ReeveError } from '../core/errors.ts'
import { announcedDaemon } from '../home/announced-daemon.ts'
import { type HomePaths, homeFolder, homePaths } from '../home/paths.ts'

export interface ConnectOptions {
  /** The folder of the daemon; `REEVE_HOME`, else `~/.reeve`. */
  readonly home?: string
  /** Its Unix socket, where that lies elsewhere. */
  readonly socket?: string
  /** Instead of a socket: `http://127.0.0.1:7777`. Needs a token. */
  readonly url?: string
  /** For a URL; without one, the home's own if its daemon has that URL. Over a socket, to be less than the user: an agent's token. */
  readonly token?: string
}

/** Where the daemon is, and what is said to it at every request. */
export interface Address {
  readonly socket: string | null
  readonly url: URL | null
  readonly token: string | null
  /** For messages. */
  readonly shown: string
}

export function addressOf(options: ConnectOptions): Address {
  const home = homePaths(options.home ?? homeFolder())
  if (options.url === undefined) {
    const socket = options.socket ?? home.socket
    return { socket, url: null, token: options.token ?? null, shown: socket }
  }
  const url = urlOf(options.url)
  return { socket: null, url, token: options.token ?? tokenFor(url, home), shown: url.origin }
}

function urlOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url !== null && (url.protocol === 'http:' || url.protocol === 'https:')) return url
  throw new ReeveError(
    'invalid_input',
    `${text} is no address of a daemon.`,
    'Give one like http://127.0.0.1:7777.',
  )
}

/** The home's token is for the home's daemon, and nobody else is shown it. None is no error: who is asked says what is missing. */
function tokenFor(url: URL, home: HomePaths): string | null {
  try {
    const announced = announcedDaemon(home)?.url ?? null
    if (announced === null || nameless(new URL(announced)) !== nameless(url)) return null
    return readFileSync(home.token, 'utf8').trim()
  } catch {
    return null
  }
}

/** This machine has several names. */
function nameless({ protocol, hostname, port }: URL): string {
  return `${protocol}${isLoopback(hostname) ? '' : hostname}:${port}`
}

/** Whether a host is a name or an address of the loopback interface. An IPv6 address may be in brackets, as in a URL. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/.test(host)
}
