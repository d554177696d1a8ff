import type { CallOptions, VerbName } from '../verbs/reeve.ts'
import { fromWire, requestTo } from '../verbs/request.ts'
import { routes } from '../verbs/routes.ts'
import { brokenWith } from './broken.ts'
import { errorOf } from './problem.ts'
import { isKeyRefused, isRead, isRepeatable, keyedCall, WAITS } from './repeatable.ts'
import { retrying } from './retry.ts'
import type { Answered, Transport } from './transport.ts'

/** A daemon, and on whose behalf it is asked. */
export interface Line {
  readonly transport: Transport
  /** `Reeve-As`, or nothing. */
  readonly headers: Readonly<Record<string, string>>
  readonly revive: ((wasHeard: boolean) => Promise<string | undefined>) | undefined
  /** For how long a call that may be repeated is repeated. */
  readonly retryMs: number
  /** What the last answer said of the feed. */
  readonly seen: { position?: number }
}

/** Calls a verb; the input is checked where it arrives. */
export async function call(
  line: Line,
  name: VerbName,
  input: Readonly<Record<string, unknown>>,
  { signal }: CallOptions = {},
): Promise<unknown> {
  const since = Date.now()
  try {
    const keyed = keyedCall(name, input)
    const perform = (given: Readonly<Record<string, unknown>>) =>
      retrying(() => callOnce(line, name, withTimeLeft(name, given, Date.now() - since), signal), {
        safe: isRepeatable(name, given),
        forMs: line.retryMs,
        outlastsRestarts: WAITS.has(name) || isRead(name),
        isWait: WAITS.has(name),
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
    if (signal?.aborted && WAITS.has(name)) return interrupted(name)
    throw error
  }
}

async function callOnce(
  { transport, headers, seen }: Line,
  name: VerbName,
  input: Readonly<Record<string, unknown>>,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const { method, path, query, body } = requestTo(routes[name], input)
  const search = query.size === 0 ? '' : `?${query}`
  const answered = await transport.ask({ method, path: `/v1${path}${search}`, headers, body, signal })
  const text = await textOf(transport, answered, signal)
  if (answered.status !== 200) throw errorOf(answered.status, text)
  const position = answered.headers['reeve-position']
  if (typeof position === 'string') seen.position = Number(position)
  return fromWire(text)
}

/** The whole body. One that is cut short is as good as none. */
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

/** A wait that is asked again lasts for what is left of it. A number that is no duration is refused by the daemon. */
function withTimeLeft(name: VerbName, input: Readonly<Record<string, unknown>>, passedMs: number) {
  const { timeoutMs } = input
  if (!WAITS.has(name) || !isDuration(timeoutMs)) return input
  return { ...input, timeoutMs: Math.max(0, Math.round(timeoutMs - passedMs)) }
}

/** A wait that was called off is answered, as it is without a daemon in between. */
function interrupted(name: VerbName): unknown {
  return name === 'waitAll' ? { type: 'interrupted', records: [] } : { type: 'interrupted' }
}

function isDuration(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0
}
