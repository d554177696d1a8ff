import { ReeveError } from '../core/errors.ts'
import type { OutputOf, VerbName } from '../verbs/reeve.ts'
import { routes } from '../verbs/routes.ts'

type Input = Readonly<Record<string, unknown>>

export const WAITS: ReadonlySet<VerbName> = new Set(['wait', 'waitAny', 'waitAll', 'waitFor'])
const REPEATABLE: ReadonlySet<VerbName> = new Set([
  ...WAITS,
  ...(['spawn', 'spawnMany', 'send'] as const),
  ...(['kill', 'closeInput', 'resize', 'touchSession', 'openSession', 'endSession'] as const),
  ...(['announceWorker', 'claimWork', 'doWork', 'retireWorker', 'acknowledge', 'takeNotices'] as const),
])

/**
 * Calls that change nothing, and calls that have the same effect when they are repeated. Notices that were taken in a lost
 * answer are delivered again when their time is up.
 */
export function isRepeatable(name: VerbName, input: Input): boolean {
  if (isRead(name) || REPEATABLE.has(name)) return true
  if (name === 'restart') return input['idempotencyKey'] !== undefined
  if (name === 'write' || name === 'submit') return input['seq'] !== undefined
  // An OS signal is sent as often as it is asked for.
  if (name === 'signal' && String(input['signal']).startsWith('SIG')) return false
  return input['replayKey'] !== undefined
}

export function isRead(name: VerbName): boolean {
  return routes[name].startsWith('GET ')
}

/** A call that the daemon recognises when it is repeated. */
export interface KeyedCall {
  readonly input: Input
  /** The answer to the first request that the daemon heard, which may be lost. */
  readonly firstAnswer: (answer: unknown) => unknown
  /** The input for a daemon of an older version, which refuses the key. */
  readonly unkeyed?: Input
}

/** Gives `spawn`, `spawnMany`, `restart` and `send` a key of their own, unless the caller has given one. */
export function keyedCall(name: VerbName, input: Input): KeyedCall {
  if (name === 'spawn' && !isKeyedSpawn(input)) return { input: withKey(input), firstAnswer: firstSpawn }
  if (name === 'restart' && input['idempotencyKey'] === undefined)
    return { input: withKey(input), firstAnswer: unchanged, unkeyed: input }
  if (name === 'send' && input['id'] === undefined)
    return { input: { ...input, id: newKey() }, firstAnswer: firstSend }
  const { processes } = input
  // What is no list of objects is refused where it arrives.
  if (name !== 'spawnMany' || !Array.isArray(processes) || !processes.every(isObject))
    return { input, firstAnswer: unchanged }
  const isKeyedHere = processes.map((one) => !isKeyedSpawn(one))
  return {
    input: { ...input, processes: processes.map((one) => (isKeyedSpawn(one) ? one : withKey(one))) },
    firstAnswer: (answer) => {
      const { processes: spawned } = answer as OutputOf<'spawnMany'>
      return { processes: spawned.map((one, index) => (isKeyedHere[index] ? firstSpawn(one) : one)) }
    },
  }
}

/** Nothing was done: the input was refused. */
export function isKeyRefused(error: unknown): boolean {
  return (
    error instanceof ReeveError &&
    (error.code as string) === 'invalid_input' &&
    error.message.includes('idempotencyKey')
  )
}

/** A pid of the caller's own makes a registration safe to repeat, too. */
function isKeyedSpawn(input: Input): boolean {
  return input['idempotencyKey'] !== undefined || input['pid'] !== undefined
}

function withKey(input: Input): Input {
  return { ...input, idempotencyKey: newKey() }
}

/** Loaded by the calls that need it: most only read. */
function newKey(): string {
  return process.getBuiltinModule('node:crypto').randomUUID()
}

function isObject(value: unknown): value is Input {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function unchanged(answer: unknown): unknown {
  return answer
}

/** A key that no other call has: this call registered the process. */
function firstSpawn(answer: unknown): unknown {
  const spawned = answer as OutputOf<'spawn'>
  return spawned.type === 'existing' ? { ...spawned, type: 'registered' } : answer
}

function firstSend(answer: unknown): unknown {
  const sent = answer as OutputOf<'send'>
  return sent.answer === 'replayed' ? { ...sent, answer: 'sent' } : answer
}
