import { pid as pidShape } from '../verbs/shapes/scalars.ts'
import { listenedUris } from './listened-uris.ts'
import { resourceRef } from './resource-uris.ts'

/** The parts of a request that determine its session. */
export interface Subject {
  /** The folder of the command to start. */
  readonly cwd?: string
  /** A whole pid. Only a client that was given the pid can know it; names and prefixes can be guessed. */
  readonly pid?: string
}

export function subjectOf(message: unknown): Subject {
  const { params } = Object(message) as { readonly params?: unknown }
  const { name, arguments: given, taskId, uri } = Object(params) as Record<string, unknown>
  const { pid, cwd } = Object(given) as Record<string, unknown>
  if (name === 'process_start') return typeof cwd === 'string' && cwd !== '' ? { cwd } : {}
  // The id of a task begins with a pid.
  const ofTask = typeof taskId === 'string' ? taskId.split('.')[0] : undefined
  const ofResource = [uri, ...listenedUris(message)].map(pidIn).find((found) => found !== undefined)
  const whole = pidShape.safeParse(pid ?? ofTask ?? ofResource)
  return whole.success ? { pid: whole.data } : {}
}

function pidIn(uri: unknown): string | undefined {
  const ref = typeof uri === 'string' ? resourceRef(uri) : null
  return ref !== null && 'pid' in ref ? ref.pid : undefined
}
