import { readFileSync } from 'node:fs'
import { ReeveError } from '../core/errors.ts'
import { homeFolder, homePaths } from './home.ts'

export interface ConnectOptions {
  /** The folder of the daemon; `REEVE_HOME`, else `~/.reeve`. */
  readonly home?: string
  /** Its Unix socket, where that lies elsewhere. */
  readonly socket?: string
  /** Instead of a socket: `http://127.0.0.1:7777`. Needs a token. */
  readonly url?: string
  /** For a URL; without one, the home's own. Over a socket, to be less than the user: an agent's token. */
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
  return { socket: null, url, token: options.token ?? tokenIn(home.token), shown: url.origin }
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

/** None is no error: the daemon then says what is missing. */
function tokenIn(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return null
  }
}
