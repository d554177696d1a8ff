import type { Context, Hono } from 'hono'
import * as z from 'zod'
import { ReeveError } from '../core/errors.ts'
import { type CallOptions, type ReeveVerbs, type VerbName, verbs } from '../verbs/reeve.ts'
import { fromWire, hasBody, partsOf, toWire } from '../verbs/request.ts'
import { rawBytes } from '../verbs/shapes/raw-bytes.ts'
import type { Verb } from '../verbs/verb.ts'
import type { Env } from './app.ts'
import { bodyOf } from './body.ts'
import { actingFor, type Caller, callSignal, demand, refuseInherited, viewOf } from './caller.ts'
import type { Served } from './served.ts'

/** Every verb below `/v1`, with one handler for all of them. */
export function addVerbs(app: Hono<Env>, reeve: Served, maxBytes: number): void {
  for (const name of Object.keys(verbs) as VerbName[]) {
    const { method, path } = partsOf(verbs[name].route)
    app.on(method, pathPattern(path), (context) => perform(name, context, reeve, maxBytes))
  }
}

/** `/processes/{pid}` as the router writes it. */
function pathPattern(path: string): string {
  return `/v1${path.replaceAll(/\{(\w+)\}/g, ':$1')}`
}

type Act = (input: unknown, options: CallOptions) => Promise<unknown>

async function perform(
  name: VerbName,
  context: Context<Env>,
  reeve: Served,
  maxBytes: number,
): Promise<Response> {
  const { req } = context
  const caller = context.get('caller')
  context.set('verb', name)
  // Taken before the act: following from here covers everything that the answer does not have.
  context.header('Reeve-Position', String(reeve.position()))
  const verb: Verb = verbs[name]
  const { needs } = verb
  demand(caller, needs)
  if (needs === 'read') context.env.onlyReads()
  const body = hasBody(req.method) ? await bodyOf(req.raw, maxBytes) : {}
  const input = inputOf(name, req.param(), new URL(req.url).searchParams, withKey(verb, context, body))
  if (input['reveal'] === true) demand(caller, 'admin')
  refuseInherited(caller, input)
  const given = hasTerminalView(verb) ? asShownTo(caller, input) : input
  const act = actingFor(reeve, caller)[name as keyof ReeveVerbs] as Act
  const trace = req.header('traceparent')
  const answer = await act(given, { signal: callSignal(context), ...(trace === undefined ? {} : { trace }) })
  // Without bytes to encode, the faster JSON.stringify does.
  const text = mayHaveBytes(name) ? toWire(answer) : JSON.stringify(answer)
  return context.body(text, 200, { 'Content-Type': 'application/json' })
}

/** Whether a person at a terminal may ask for the answer unmasked. */
function hasTerminalView({ input }: Verb): boolean {
  return input instanceof z.ZodObject && 'terminal' in input.shape
}

function asShownTo(caller: Caller, { reveal = false, terminal = false, ...rest }: Record<string, unknown>) {
  // The verb refuses values that are not booleans.
  if (typeof reveal !== 'boolean' || typeof terminal !== 'boolean') return { ...rest, reveal, terminal }
  return { ...rest, ...viewOf(caller, { reveal, terminal }) }
}

const withBytes = new Map<VerbName, boolean>()

function mayHaveBytes(name: VerbName): boolean {
  const known = withBytes.get(name)
  if (known !== undefined) return known
  let found = false
  z.toJSONSchema(verbs[name].output, {
    unrepresentable: 'any',
    override: ({ zodSchema }) => {
      if (zodSchema === rawBytes) found = true
    },
  })
  withBytes.set(name, found)
  return found
}

/** The idempotency key may be in the header that other services use for it. */
function withKey(
  { idempotencyHeader }: Verb,
  context: Context<Env>,
  body: Record<string, unknown>,
): Record<string, unknown> {
  const key = context.req.header('idempotency-key')
  if (idempotencyHeader !== true || key === undefined) return body
  const { idempotencyKey = key } = body
  if (idempotencyKey === key) return { ...body, idempotencyKey }
  throw new ReeveError(
    'bad_request',
    'The header Idempotency-Key and the idempotencyKey in the body differ.',
    'Give one of them, or the same in both.',
  )
}

/** The input of a verb in a request, before it is parsed. Members of the query are JSON, except those that are texts. */
function inputOf(
  name: VerbName,
  path: Readonly<Record<string, string>>,
  query: URLSearchParams,
  body: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const texts = textsOf(name)
  const given = [...query].map(([member, text]) => [member, texts.has(member) ? text : fromWireOr(text)])
  return { ...Object.fromEntries(given), ...body, ...path }
}

/** Text that is not JSON stays unchanged: the verb's schema reports it. */
function fromWireOr(text: string): unknown {
  try {
    return fromWire(text)
  } catch {
    return text
  }
}

const texts = new Map<VerbName, ReadonlySet<string>>()

/** The members of a verb's input that are texts. */
function textsOf(name: VerbName): ReadonlySet<string> {
  const known = texts.get(name)
  if (known !== undefined) return known
  const { properties = {} } = z.toJSONSchema(verbs[name].input, { io: 'input', unrepresentable: 'any' })
  const found = new Set(
    Object.keys(properties).filter((member) => {
      const property = properties[member]
      return typeof property === 'object' && property.type === 'string'
    }),
  )
  texts.set(name, found)
  return found
}
