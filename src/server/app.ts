import type { HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import { ReeveError } from '../core/errors.ts'
import { addAbout } from './about.ts'
import { refuseTooLarge, withinLimit } from './body.ts'
import type { Caller } from './caller.ts'
import { type Arrival, type Door, type Guard, tokenRevoked } from './guard.ts'
import { setCommonHeaders } from './headers.ts'
import { addHealth } from './health.ts'
import { addHooks } from './hooks/routes.ts'
import type { Metrics } from './metrics.ts'
import { foreseen, problemResponse } from './problem.ts'
import type { Log, Served } from './served.ts'
import type { StreamTimes } from './streams/answer.ts'
import { addStreams } from './streams/routes.ts'
import { addVerbs } from './verb-routes.ts'

export interface Env {
  Bindings: HttpBindings & {
    readonly door: Door
    /** Marks the request as safe to cut when the server closes: the client may repeat it. */
    onlyReads(): void
    /** Counts the connection for its token, null for the user. Throws if that token has too many connections. */
    authenticated(tokenId: string | null): void
  }
  Variables: {
    caller: Caller
    verb: string
    /** Aborted when the caller's token is revoked; undefined for the user, who has none. */
    revoked: AbortSignal | undefined
  }
}

/** Another protocol below a path, for authenticated callers. */
export type MountedHandler = (request: Request, caller: Caller) => Promise<Response>

export interface AppParts {
  readonly reeve: Served
  readonly guard: Guard
  readonly log: Log
  readonly metrics: Metrics
  readonly mount: Readonly<Record<string, MountedHandler>>
  readonly bodyBytes: number
  /** Aborted when the server closes: streams end then. */
  readonly closing: AbortSignal
  readonly streams: Partial<StreamTimes>
  readonly version: string
}

/** All routes, for every listener. */
export function appOf(parts: AppParts): Hono<Env> {
  const { reeve, guard, log, metrics, mount, bodyBytes } = parts
  const app = new Hono<Env>()

  app.use(async (context, next) => {
    const begun = performance.now()
    await next()
    const { headers, status } = context.res
    setCommonHeaders(headers)
    const verb = context.get('verb') ?? 'other'
    metrics.answered(verb, status)
    const ms = Math.round(performance.now() - begun)
    log.debug({ method: context.req.method, path: context.req.path, verb, status, ms }, 'answered')
  })
  app.use(async ({ env, req }, next) => {
    guard.refuseForeign(arrivalOf(env))
    refuseTooLarge(req.raw, bodyBytes)
    refuseDotSegments(env.incoming.url ?? '')
    await next()
  })
  addHealth(app, reeve)
  addHooks(app, parts)
  app.use(async (context, next) => {
    const caller = guard.callerOf(arrivalOf(context.env))
    context.set('caller', caller)
    context.env.authenticated(caller.tokenId)
    if (caller.tokenId === null) return next()
    const { outgoing } = context.env
    const revoked = new AbortController()
    const refused = Promise.withResolvers<never>()
    refused.promise.catch(() => undefined)
    context.set('revoked', revoked.signal)
    const cut = () => {
      revoked.abort()
      // An answer that has begun is cut off. A caller that still waits gets the error.
      if (outgoing.headersSent) outgoing.destroy()
      else refused.reject(tokenRevoked())
    }
    outgoing.once('close', guard.admit(caller, cut))
    await Promise.race([next(), refused.promise])
  })
  addAbout(app, reeve, metrics, parts.version)
  addStreams(app, parts)
  app.get('/v1/processes/:pid/terminal', () => problemResponse(noUpgrade(), { Upgrade: 'websocket' }))
  addVerbs(app, reeve, bodyBytes)
  for (const [path, handle] of Object.entries(mount))
    app.all(path, async (context) =>
      handle(await withinLimit(context.req.raw, bodyBytes), context.get('caller')),
    )
  addWrongMethods(app)
  app.notFound(({ req }) => problemResponse(nowhere(req.path)))
  app.onError((error, context) => {
    const said = foreseen(error)
    const { method, path } = context.req
    if (said.code === 'internal') log.error({ err: error, method, path }, 'a request failed')
    const position = context.res.headers.get('reeve-position')
    return problemResponse(said, position === null ? {} : { 'Reeve-Position': position })
  })
  return app
}

function arrivalOf({ incoming, door }: Env['Bindings']): Arrival {
  return arrival(incoming, door)
}

export function arrival(incoming: HttpBindings['incoming'], door: Door): Arrival {
  refuseTwoHosts(incoming.rawHeaders)
  return {
    door,
    address: incoming.socket.remoteAddress ?? '',
    header: (name) => {
      const value = incoming.headers[name]
      return Array.isArray(value) ? value.join(', ') : value
    },
  }
}

/** With two, a proxy on the way may have checked the other one. */
function refuseTwoHosts(rawHeaders: readonly string[]): void {
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host')
  if (hosts.length > 1) throw new ReeveError('bad_request', 'The request has two Host headers.', 'Send one.')
}

/** A known path with another method is `method_not_allowed`, not `not_found`. */
function addWrongMethods(app: Hono<Env>): void {
  const allowed = new Map<string, Set<string>>()
  for (const { method, path } of app.routes) {
    if (method === 'ALL') continue
    const methods = allowed.get(path) ?? new Set()
    allowed.set(path, methods.add(method))
    if (method === 'GET') methods.add('HEAD')
  }
  for (const [path, methods] of allowed) {
    app.all(path, ({ req }) => {
      const allow = [...methods].join(', ')
      const message = `${req.path} does not accept ${req.method}.`
      const error = new ReeveError('method_not_allowed', message, `Use ${allow}.`, {
        details: { allow: [...methods] },
      })
      return problemResponse(error, { Allow: allow })
    })
  }
}

/** `.` and `..` in a path would be resolved to another path than was sent. No valid request has them. */
function refuseDotSegments(url: string): void {
  const [path = ''] = url.split(/[?#]/)
  if (path.split(/[/\\]/).some((segment) => /^(\.|%2e){1,2}$/i.test(segment))) throw nowhere(path)
}

function noUpgrade(): ReeveError {
  return new ReeveError(
    'bad_request',
    'This endpoint accepts WebSocket upgrades only.',
    'Open it with a WebSocket client; output/stream has the bytes without one.',
  )
}

function nowhere(path: string): ReeveError {
  return new ReeveError(
    'not_found',
    `There is nothing at ${path}.`,
    'GET /v1/openapi.json lists everything there is.',
  )
}
