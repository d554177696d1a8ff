import { type Json, type JsonObject, objectOf } from '../../core/json/json.ts'
import { type Asker, elicit } from './elicitation.ts'
import { McpFailure } from './mcp-failure.ts'

/** The parts of a server connection that a call uses. */
export interface CallParts {
  readonly asker: Asker
  /** The pid of the call. */
  readonly call: string
  readonly signal: AbortSignal
  /** Sends the call, in its n-th round. */
  exchange(round: number, params: JsonObject): Promise<JsonObject>
  /** Any other request. */
  request(method: string, params: JsonObject, signal?: AbortSignal): Promise<JsonObject>
}

/** How often a server may ask for more before it answers. */
const MAX_ROUNDS = 20

/** Calls a tool: passes questions on to people, and waits for the end of a task. */
export async function callTool(parts: CallParts, name: string, input: JsonObject): Promise<JsonObject> {
  let params: JsonObject = { name, arguments: input }
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const result = await parts.exchange(round, params)
    switch (result['resultType']) {
      case 'input_required': {
        const { inputRequests, requestState } = result
        params = {
          name,
          arguments: input,
          inputResponses: await answersTo(parts, objectOf(inputRequests), `${parts.call}:${round}`),
          ...(requestState === undefined ? {} : { requestState }),
        }
        continue
      }
      case 'task':
        return taskResult(parts, result)
      default:
        return result
    }
  }
  throw new McpFailure('unusable', `The server asked more than ${MAX_ROUNDS} times.`)
}

async function answersTo(
  { asker, signal }: CallParts,
  requests: JsonObject,
  key: string,
): Promise<JsonObject> {
  const answers: Record<string, Json> = {}
  for (const [name, given] of Object.entries(requests)) {
    const { method, params } = objectOf(given)
    if (method !== 'elicitation/create')
      throw new McpFailure('unusable', `The server asks for ${String(method)}, which is not supported.`)
    answers[name] = await elicit(asker, objectOf(params), `mcp:${key}:${name}`, signal)
  }
  return answers
}

const POLL_MS = { default: 1_000, min: 50, max: 60_000 }

/** Polls a task until it is over. It may take as long as it wants: the call can be cancelled. */
async function taskResult(parts: CallParts, task: JsonObject): Promise<JsonObject> {
  const { signal, request } = parts
  const { taskId } = task
  if (typeof taskId !== 'string')
    throw new McpFailure('unusable', 'The server answered with a task that has no id.')
  try {
    let seen = task
    let asked = 0
    for (;;) {
      const { status, result, error, inputRequests } = seen
      if (status === 'completed') return objectOf(result)
      if (status === 'failed')
        throw new McpFailure('refused', String(objectOf(error)['message'] ?? 'The task failed.'))
      if (status === 'cancelled') throw new McpFailure('refused', 'The server cancelled the task.')
      if (status === 'input_required') {
        if (asked >= MAX_ROUNDS)
          throw new McpFailure('unusable', `The task asked more than ${MAX_ROUNDS} times.`)
        const inputResponses = await answersTo(parts, objectOf(inputRequests), `${taskId}:${asked}`)
        await request('tasks/update', { taskId, inputResponses }, signal)
        asked += 1
      }
      await nextPoll(seen['pollIntervalMs'], signal)
      seen = await request('tasks/get', { taskId }, signal)
    }
  } catch (error) {
    if (isStopped(signal)) await request('tasks/cancel', { taskId }).catch(() => undefined)
    throw error
  }
}

async function nextPoll(given: Json | undefined, signal: AbortSignal): Promise<void> {
  const wanted = typeof given === 'number' ? given : POLL_MS.default
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, Math.min(Math.max(wanted, POLL_MS.min), POLL_MS.max))
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    signal.throwIfAborted()
    await promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
  }
}

/** With these reasons of an abort another kernel goes on with the call. */
const HANDED_OVER: readonly unknown[] = ['shutdown', 'lease_lost']

/** The call itself is stopped. */
export function isStopped({ aborted, reason }: AbortSignal): boolean {
  return aborted && !HANDED_OVER.includes(Object(reason).why)
}
