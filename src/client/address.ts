import { readFileSync } from 'node:fs'
import { ReeveError } from '../core/errors.ts'
import { announcedDaemon } from '../home/announced-daemon.ts'
import { type HomePaths, homeFolder, homePaths } from '../home/paths.ts'

export interface ConnectOptions {
  /** The folder of the daemon; `REEVE_HOME`, else `~/.reeve`. */
  readonly home?: string
  /** Its Unix socket, if that is not in the folder. */
  readonly socket?: string
  /** Instead of a socket, for example `http://127.0.0.1:7777`. Needs a token. */
  readonly url?: string
  /** For a URL; by default the token of the home, if its daemon has that URL. Over a socket it limits the client, for example to an agent. */
  readonly token?: string
}

/** The address of a daemon, and the token of every request. */
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
    `${text} is not the address of a daemon.`,
    'Give a URL like http://127.0.0.1:7777.',
  )
}

/** Only the home's own daemon gets the home's token. Null is no error: a daemon that needs a token says so. */
function tokenFor(url: URL, home: HomePaths): string | null {
  try {
    const announced = announcedDaemon(home)?.url ?? null
    if (announced === null || withoutLoopback(new URL(announced)) !== withoutLoopback(url)) return null
    return readFileSync(home.token, 'utf8').trim()
  } catch {
    return null
  }
}

/** For comparison: the loopback interface has several names. */
function withoutLoopback({ protocol, hostname, port }: URL): string {
  return `${protocol}${isLoopback(hostname) ? '' : hostname}:${port}`
}

/** Whether a host is a name or an address of the loopback interface. An IPv6 address may be in brackets, as in a URL. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/.test(host)
}
