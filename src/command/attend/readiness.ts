import { connect } from 'node:net'
import type { ReadyBy } from '../../core/process/event.ts'
import type { ReadySpec } from '../../verbs/shapes/command-spec.ts'
import { type Surroundings, shellTry } from './shell-try.ts'

/** The default time in which a command has to become ready. */
export const READY_TIMEOUT_MS = 60_000
/** The limit of one try. */
const TRY_MS = 5_000

/** Describes the readiness condition. */
export function detailOf(ready: ReadySpec): { readonly by: ReadyBy; readonly detail: string } {
  if ('log' in ready) return { by: 'log', detail: ready.log }
  if ('port' in ready) return { by: 'port', detail: String(ready.port) }
  if ('http' in ready) return { by: 'http', detail: ready.http }
  return { by: 'command', detail: ready.command }
}

/**
 * Tries once: a port that accepts, a URL that answers without a server error, a shell line that succeeds. Null on success, else
 * a short reason.
 */
export async function tryOnce(
  ready: Exclude<ReadySpec, { log: string }>,
  surroundings: () => Promise<Surroundings>,
  signal: AbortSignal,
): Promise<string | null> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(TRY_MS)])
  if ('port' in ready) {
    const refused = await accepts('127.0.0.1', ready.port, within)
    // Most programs listen on one of the two addresses, and then the answer of the first one counts.
    return refused === null || (await accepts('::1', ready.port, within)) === null ? null : refused
  }
  if ('http' in ready) return answers(ready.http, within)
  return shellTry(ready.command, await surroundings(), within)
}

function accepts(host: string, port: number, signal: AbortSignal): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, signal })
    socket.once('connect', () => {
      socket.destroy()
      resolve(null)
    })
    socket.once('error', (error) => resolve(saidBy(error)))
  })
}

async function answers(url: string, signal: AbortSignal): Promise<string | null> {
  try {
    const response = await fetch(url, { signal, redirect: 'manual' })
    await response.body?.cancel()
    return response.status < 500 ? null : `HTTP status ${response.status}`
  } catch (error) {
    // The message of fetch says only that it failed; its cause says why.
    return saidBy(error instanceof Error && error.cause instanceof Error ? error.cause : error)
  }
}

function saidBy(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return 'no answer in time'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message
}
