import type { Context, Hono } from 'hono'
import { ReeveError } from '../../core/errors.ts'
import { MAX_PAYLOAD_BYTES } from '../../core/trigger/occurrence-request.ts'
import { bodyIn, type RejectedFor, readSignedRequest } from '../../core/trigger/webhook-request.ts'
import type { AppParts, Env } from '../app.ts'
import { readUpTo } from '../body.ts'
import type { Served } from '../served.ts'
import { HookRates } from './rate.ts'
import { isSigned } from './signature.ts'

/** Requests that are read and checked at once. They show no token, so they share no limit with those that do. */
const MAX_AT_ONCE = 64
/** For a hook that is not there: its signature is computed and compared all the same, and takes as long. */
const NO_SECRET = `whsec_${'0'.repeat(40)}`

/**
 * The one route without a bearer token: a request to a webhook is signed instead. It is answered after its delivery is stored. A
 * caller without the secret learns nothing: an unknown hook and a wrong signature have the same answer.
 */
export function addHooks(app: Hono<Env>, { reeve: { hooks }, log }: Pick<AppParts, 'reeve' | 'log'>): void {
  const rates = new HookRates()
  let open = 0
  // The refusal does not wait for the note: its time would tell whether there is such a hook.
  const noteLater = (id: string, reason: RejectedFor) => {
    hooks.reject(id, reason).catch((error: unknown) => log.error({ err: error }, 'a rejection is not noted'))
  }
  app.post('/hooks/:id', async (context) => {
    context.set('verb', 'hook')
    if (open >= MAX_AT_ONCE) throw tooManyAtOnce()
    open += 1
    try {
      return await receive(context, hooks, rates, noteLater)
    } finally {
      open -= 1
    }
  })
}

async function receive(
  context: Context<Env>,
  hooks: Served['hooks'],
  rates: HookRates,
  noteLater: (id: string, reason: RejectedFor) => void,
): Promise<Response> {
  const id = context.req.param('id') ?? ''
  const now = Date.now()
  const signed = readSignedRequest((name) => context.req.header(name), now)
  if (signed === 'headers' || signed === 'timestamp') {
    noteLater(id, signed)
    throw signed === 'headers' ? incomplete() : outOfTime()
  }
  const [hook, body] = await Promise.all([hooks.webhook(id), readUpTo(context.req.raw, MAX_PAYLOAD_BYTES)])
  if (!isSigned(hook?.secret ?? NO_SECRET, signed, body) || hook === null) {
    if (hook !== null) noteLater(id, 'signature')
    throw unsigned()
  }
  // From here on the caller has the secret.
  context.env.authenticated(null)
  const refuse = async (reason: RejectedFor, error: ReeveError): Promise<never> => {
    await hooks.reject(id, reason)
    throw error
  }
  const tooFast = rates.take(id, hook.maxPerMinute, now)
  if (tooFast !== undefined) return refuse('too_fast', tooMany(hook.maxPerMinute, tooFast.retryAfterSeconds))
  if (body.length > hook.maxBytes) return refuse('too_large', tooLarge(hook.maxBytes))
  const parsed = bodyIn(textOf(body))
  if (parsed === undefined) return refuse('body', notJson())
  const delivered = await hooks.receive(id, signed.id, parsed.value).catch((error: unknown) => {
    if (error instanceof ReeveError && error.code === 'busy') return refuse('paused', error)
    throw error
  })
  if (delivered.type === 'duplicate') {
    const { verdict, pid } = delivered.delivery
    const hasProcess = verdict === 'started' || verdict === 'queued'
    return context.json({ verdict: 'duplicate', first: verdict, ...(hasProcess ? { pid } : {}) })
  }
  return context.json({
    verdict: delivered.type,
    ...('pid' in delivered ? { pid: delivered.pid } : {}),
  })
}

/** Empty if it is not UTF-8, so that it is no JSON either. */
function textOf(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    return ''
  }
}

function unsigned(): ReeveError {
  return new ReeveError(
    'unauthorized',
    'There is no such webhook, or the request is not signed with its secret.',
    'Check the path and the secret; docs/triggers.md says how to sign.',
    { details: { reason: 'signature' } },
  )
}

function outOfTime(): ReeveError {
  return new ReeveError(
    'unauthorized',
    'The webhook-timestamp is more than five minutes from the time here.',
    'Sign the request again when you send it again, and check the clock.',
    { details: { reason: 'timestamp' } },
  )
}

function incomplete(): ReeveError {
  return new ReeveError(
    'unauthorized',
    'The request has no valid webhook-id, webhook-timestamp and webhook-signature.',
    'docs/triggers.md says how to sign.',
    { details: { reason: 'headers' } },
  )
}

function tooMany(maxPerMinute: number, retryAfterSeconds: number): ReeveError {
  return new ReeveError(
    'too_many_requests',
    `This webhook accepts ${maxPerMinute} deliveries in a minute.`,
    'Deliver it again later: it was not accepted.',
    { details: { maxPerMinute, retryAfterSeconds } },
  )
}

function tooManyAtOnce(): ReeveError {
  return new ReeveError(
    'too_many_requests',
    `${MAX_AT_ONCE} requests to webhooks are under way.`,
    'Deliver it again later: it was not accepted.',
    { details: { retryAfterSeconds: 1 } },
  )
}

function tooLarge(maxBytes: number): ReeveError {
  return new ReeveError(
    'body_too_large',
    `This webhook accepts ${maxBytes} bytes.`,
    'Raise source.maxBytes of the trigger, or send less.',
    { details: { mostBytes: maxBytes } },
  )
}

function notJson(): ReeveError {
  return new ReeveError('bad_request', 'The body is not JSON that can be stored.', 'Send JSON in UTF-8.')
}
