import type { AgentClient, Person } from '../core/authority/person.ts'
import { ReeveError } from '../core/errors.ts'
import type { Actor } from '../core/process/record.ts'
import type { Caller } from './caller.ts'
import { Failures } from './failures.ts'
import { Openings } from './openings.ts'
import { findToken, type StoredToken, type Tokens } from './tokens.ts'

/** The listener that a request came through. A client on the Unix socket is the user, unless it sends a token; others need one. */
export type Door = { readonly by: 'socket' } | { readonly by: 'tcp'; readonly hosts: ReadonlySet<string> }

/** The parts of a request, or of a WebSocket upgrade, that the guard checks before any routing. */
export interface Arrival {
  readonly door: Door
  readonly address: string
  header(name: string): string | undefined
}

interface GuardOptions {
  readonly requestsPerToken: number
  /** The user of the socket, and whether that person may be asked at the client of an agent there. */
  readonly user: { readonly person: Person; readonly approver: boolean }
}

/**
 * Authenticates requests.
 *
 * | door   | `Host`, `Origin`                     | token  | acts as                                       |
 * | socket | any: no browser can connect          | none, or one that limits the user | the host, or the actor in `Reeve-As` |
 * | tcp    | the daemon's own, or `forbidden`     | always | the same; an agent as its session only |
 *
 * The person is the one that the token names. Without a token it is the user, if `Reeve-Person` says that the request does not come
 * from a program that Reeve started; clients send it, and it guards against accidents. Without it nothing is answered, and no rule
 * is changed. `Reeve-Elicited` and `Reeve-Own-Sessions` limit the answers that the client of an agent passes on.
 */
export class Guard {
  readonly #tokens: Tokens
  readonly #failures = new Failures()
  readonly #openings: Openings

  readonly #requestsPerToken: number
  readonly #user: GuardOptions['user']

  constructor(tokens: Tokens, { requestsPerToken, user }: GuardOptions) {
    this.#tokens = tokens
    this.#requestsPerToken = requestsPerToken
    this.#user = user
    this.#openings = new Openings(tokens)
  }

  /** A web page may send requests to this address under a DNS name of its own. It cannot forge these headers. */
  refuseForeign({ door, header }: Arrival): void {
    if (door.by === 'socket') return
    const host = header('host')?.toLowerCase() ?? ''
    if (!door.hosts.has(host)) throw foreign('Host', host)
    const origin = header('origin')?.toLowerCase()
    if (origin !== undefined && !door.hosts.has(origin.replace(/^https?:\/\//, '')))
      throw foreign('Origin', origin)
    const site = header('sec-fetch-site')
    if (site === 'cross-site') throw foreign('Sec-Fetch-Site', site)
  }

  callerOf(arrival: Arrival): Caller {
    const isUser = arrival.door.by === 'socket' && arrival.header('authorization') === undefined
    const token = isUser ? null : this.#shown(arrival)
    const role = token?.role ?? 'admin'
    const tokenId = token?.id ?? null
    const other = arrival.header('reeve-as')
    if (token !== null && token.role === 'agent') {
      const own: Actor = `session:${token.session}`
      if (other !== undefined && other !== own) throw onlyItself(own, other)
      return { role, actor: own, tokenId, ...seatOf(token) }
    }
    const actor = other === undefined ? 'host' : actorOf(other)
    const seat = token === null ? this.#userIn(arrival) : seatOf(token)
    return { role, actor, tokenId, ...seat, ...throughIn(arrival) }
  }

  #userIn({ header }: Arrival): Pick<Caller, 'person' | 'approver' | 'mayBeProgram'> {
    return header('reeve-person') === '1' ? this.#user : { person: null, approver: false, mayBeProgram: true }
  }

  /**
   * Counts an open request, stream or terminal for its token, so that one token can't take all of the daemon's time. Throws if
   * the token has too many; the user on the socket is not limited. Calls `cut` when the token is revoked. Returns the function
   * that ends the count, which may be called more than once.
   */
  admit({ tokenId }: Caller, cut: () => void): () => void {
    if (tokenId === null) return () => undefined
    const limit = this.#requestsPerToken
    if (this.#openings.count(tokenId) < limit) return this.#openings.add(tokenId, cut)
    throw new ReeveError(
      'too_many_requests',
      `${limit} requests, streams and terminals of this token are open, which is the limit.`,
      'Wait until some are answered, or close some; one call can wait for many processes (waitAll, waitAny).',
      { details: { limit, retryAfterSeconds: 1 } },
    )
  }

  /** Throws if the token of an authenticated caller has been revoked since. */
  refuseRevoked({ tokenId }: Caller): void {
    if (tokenId !== null && !this.#tokens.all().some(({ id }) => id === tokenId)) throw unknownToken()
  }

  /** A valid token is accepted however many wrong ones came from its address: guesses cannot lock out the users of an address. */
  #shown({ header, address }: Arrival) {
    const [, text] = /^Bearer +([!-~]+)$/i.exec(header('authorization') ?? '') ?? []
    const token = text === undefined ? undefined : findToken(this.#tokens, text)
    if (token !== undefined) return token
    if (text !== undefined && this.#failures.areTooMany(address, Date.now())) {
      throw new ReeveError(
        'too_many_requests',
        'Too many wrong tokens came from your address.',
        'Wait a minute, then use the right one.',
        { details: { retryAfterSeconds: 60 } },
      )
    }
    throw text === undefined ? noToken() : unknownToken()
  }
}

function seatOf({ person, approver }: StoredToken): Pick<Caller, 'person' | 'approver'> {
  return { person: person === undefined ? null : `human:${person}`, approver: approver === true }
}

/** Sent by `reeve mcp`. It takes rights away, and gives none. */
function throughIn({ header }: Arrival): { readonly through?: AgentClient } {
  const elicited = header('reeve-elicited') === '1'
  const own = header('reeve-own-sessions')
  if (!elicited && own === undefined) return {}
  const sessions = (own ?? '').split(',').filter((text) => text !== '')
  return { through: { sessions: sessions.map(decoded), elicited } }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function noToken(): ReeveError {
  return unauthorized('This request has no bearer token.')
}

function unknownToken(): ReeveError {
  return unauthorized('This token is not known here.')
}

export function tokenRevoked(): ReeveError {
  return unauthorized('This token was revoked while the request was under way.')
}

function unauthorized(message: string): ReeveError {
  const remedy = "Send Authorization: Bearer <token>; the daemon's own lies in the file token in its home."
  return new ReeveError('unauthorized', message, remedy)
}

/** Only a kernel acts as a kernel. */
function actorOf(text: string): Actor {
  if (/^(host$|session:.|process:.)/s.test(text)) return text as Actor
  throw new ReeveError(
    'bad_request',
    `Reeve-As names ${JSON.stringify(text)}, which is not an actor.`,
    'Name host, session:… or process:….',
  )
}

function onlyItself(own: Actor, other: string): ReeveError {
  return new ReeveError(
    'forbidden',
    `This token acts as ${own}, and not as ${other}.`,
    'Leave Reeve-As out, or use a token that is bound to no session.',
  )
}

function foreign(header: string, value: string): ReeveError {
  return new ReeveError(
    'forbidden',
    `${header} ${JSON.stringify(value)} is not an address of this daemon.`,
    'Use the address that the daemon prints at its start; other names are allowed by the setting hosts.',
    { details: { header: header.toLowerCase(), value } },
  )
}
