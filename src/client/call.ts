import type { CallOptions, VerbName } from '../verbs/reeve.ts'
import { fromWire, requestTo } from '../verbs/request.ts'
import { routes } from '../verbs/routes.ts'
import { brokenWith } from './broken.ts'
import { errorOf } from './problem.ts'
import { isKeyRefused, isRepeatable, keyedCall } from './repeatable.ts'
import { retrying } from './retry.ts'
import type { Answered, Transport } from './transport.ts'

/** A connection to a daemon, and the actor that it acts as. */
export interface Line {
  readonly transport: Transport
  /** `Reeve-As`, or nothing. */
  readonly headers: Readonly<Record<string, string>>
  readonly revive: ((wasHeard: boolean) => Promise<string | undefined>) | undefined
  /** How long a repeatable call is repeated. */
  readonly retryMs: number
  /** The position of the change feed in the last answer. */
  readonly seen: { position?: number }
}

/** Calls a verb. The daemon checks the input. */
export async function call(
  line: Line,
  name: VerbName,
  input: Readonly<Record<string, unknown>>,
  options: CallOptions = {},
): Promise<unknown> {
  const { signal } = options
  const since = Date.now()
  let tries = 0
  const attempt = (given: Readonly<Record<string, unknown>>) =>
    callOnce(line, name, withTimeLeft(name, given, tries++ === 0 ? 0 : Date.now() - since), options)
  const { route, interrupted } = routes[name]
  const isWait = interrupted !== undefined
  try {
    const keyed = keyedCall(name, input)
    const perform = (given: Readonly<Record<string, unknown>>) =>
      retrying(() => attempt(given), {
        safe: isRepeatable(name, given),
        forMs: line.retryMs,
        outlastsRestarts: isWait || route.startsWith('GET '),
        isWait,
        hasAnswered: () => line.transport.hasAnswered,
        signal,
        revive: line.revive,
      })
    const answer = await perform(keyed.input).catch((error: unknown) => {
      if (keyed.unkeyed === undefined || !isKeyRefused(error)) throw error
      return perform(keyed.unkeyed)
    })
    return keyed.firstAnswer(answer)
  } catch (error) {
    // An aborted wait is answered, as it is without a daemon in between.
    if (signal?.aborted && isWait) return structuredClone(interrupted)
    throw error
  }
}

async function callOnce(
  { transport, headers, seen }: Line,
  name: VerbName,
  input: Readonly<Record<string, unknown>>,
  { signal, trace }: CallOptions,
): Promise<unknown> {
  const traced = trace === undefined ? headers : { ...headers, traceparent: trace }
  const { method, path, query, body } = requestTo(routes[name].route, input)
  const search = query.size === 0 ? '' : `?${query}`
  const answered = await transport.ask({ method, path: `/v1${path}${search}`, headers: traced, body, signal })
  const text = await textOf(transport, answered, signal)
  if (answered.status !== 200) throw errorOf(answered.status, text)
  const position = answered.headers['reeve-position']
  if (typeof position === 'string') seen.position = Number(position)
  return fromWire(text)
}

/** The whole body. A body that breaks off is a lost answer. */
export async function textOf(
  transport: Transport,
  { body }: Answered,
  signal?: AbortSignal | undefined,
): Promise<string> {
  const pieces: Buffer[] = []
  try {
    for await (const piece of body) pieces.push(piece as Buffer)
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    throw brokenWith(error as Error, transport.address.shown, false)
  }
  return Buffer.concat(pieces).toString('utf8')
}

/** A repeated wait lasts for the rest of its time. The daemon refuses a number that is not a duration. */
function withTimeLeft(name: VerbName, input: Readonly<Record<string, unknown>>, passedMs: number) {
  const { timeoutMs } = input
  if (routes[name].interrupted === undefined || !isDuration(timeoutMs)) return input
  return { ...input, timeoutMs: Math.max(0, Math.round(timeoutMs - passedMs)) }
}

function isDuration(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0
}
