import type { Context, Hono } from 'hono'
import * as z from 'zod'
import { ReeveError } from '../core/errors.ts'
import type { CallOptions, ReeveVerbs, VerbName } from '../verbs/reeve.ts'
import { verbs } from '../verbs/reeve.ts'
import { rawBytes } from '../verbs/shapes/raw-bytes.ts'
import { hasBody, inputOf, routeOf, toWire } from '../verbs/wire.ts'
import type { Env } from './app.ts'
import { bodyOf } from './body.ts'
import { callSignal } from './call-signal.ts'
import { actingFor, type Caller, demand, refuseInherited, viewOf } from './caller.ts'
import type { Served } from './served.ts'

/** Every verb below `/v1`, with one handler for all of them. */
export function addVerbs(app: Hono<Env>, reeve: Served, mostBytes: number): void {
  for (const name of Object.keys(verbs) as VerbName[]) {
    const { method, path } = routeOf(name)
    app.on(method, pathPattern(path), (context) => perform(name, context, reeve, mostBytes))
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
  mostBytes: number,
): Promise<Response> {
  const { req } = context
  const caller = context.get('caller')
  context.set('verb', name)
  // Before it is read: whoever follows from here hears of everything that the answer does not have.
  context.header('Reeve-Position', String(reeve.position()))
  const { needs } = verbs[name]
  demand(caller, needs)
  if (needs === 'read') context.env.onlyReads()
  const body = hasBody(req.method) ? await bodyOf(req.raw, mostBytes) : {}
  const input = inputOf(name, req.param(), new URL(req.url).searchParams, withKey(name, context, body))
  if (input['reveal'] === true) demand(caller, 'admin')
  refuseInherited(caller, input)
  const given = name === 'output' ? asShownTo(caller, input) : input
  const act = actingFor(reeve, caller)[name as keyof ReeveVerbs] as Act
  const answer = await act(given, { signal: callSignal(context) })
  // Where there are no bytes to be wrapped, nothing need be looked at twice.
  const text = mayHaveBytes(name) ? toWire(answer) : JSON.stringify(answer)
  return context.body(text, 200, { 'Content-Type': 'application/json' })
}

function asShownTo(caller: Caller, { reveal = false, terminal = false, ...rest }: Record<string, unknown>) {
  // What is no boolean is refused by the verb.
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

/** A spawn may have its idempotency key in the header that others use for it. */
function withKey(
  name: VerbName,
  context: Context<Env>,
  body: Record<string, unknown>,
): Record<string, unknown> {
  const key = context.req.header('idempotency-key')
  if (name !== 'spawn' || key === undefined) return body
  const { idempotencyKey = key } = body
  if (idempotencyKey === key) return { ...body, idempotencyKey }
  throw new ReeveError(
    'bad_request',
    'The header Idempotency-Key and the idempotencyKey in the body differ.',
    'Give one of them, or the same in both.',
  )
}
