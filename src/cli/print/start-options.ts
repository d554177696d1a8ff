import type { ProcessRecord } from './status.ts'
import { shortTime } from './times.ts'

interface Asked {
  readonly ready?: {
    readonly log?: string
    readonly port?: number
    readonly http?: string
    readonly command?: string
    readonly timeoutMs?: number
  }
  readonly watch?: readonly { readonly text?: string; readonly pattern?: string }[]
  readonly notify?: 'complete' | 'failure' | 'none'
  readonly heartbeatMs?: number
  readonly restart?: { readonly on: string; readonly limit?: number }
  readonly timeoutMs?: number
  readonly idleTimeoutMs?: number
}

/** The options that a command was started with, as rows of `show`. */
export function startOptionRows({ kind, spec }: ProcessRecord): [key: string, value: string | undefined][] {
  if (kind !== 'command') return []
  const { ready, watch, notify, heartbeatMs, restart, timeoutMs, idleTimeoutMs } = spec as Asked
  return [
    ['ready when', ready === undefined ? undefined : `${readyWhen(spec)}${within(ready.timeoutMs)}`],
    ['watched for', watch?.map(watchText).join(', ')],
    ['notify', notify === undefined ? undefined : NOTIFY[notify]],
    ['heartbeat', heartbeatMs === undefined ? undefined : `every ${shortTime(heartbeatMs)} at most`],
    ['restart', restart === undefined ? undefined : restartPolicy(restart)],
    ['time limit', timeoutMs === undefined ? undefined : shortTime(timeoutMs)],
    ['idle limit', idleTimeoutMs === undefined ? undefined : shortTime(idleTimeoutMs)],
  ]
}

/** The readiness check of a command. */
export function readyWhen(spec: ProcessRecord['spec']): string {
  const { log, port, http, command } = (spec as Asked).ready ?? {}
  if (log !== undefined) return `it prints a line with /${log}/`
  if (port !== undefined) return `port ${port} accepts connections`
  return http === undefined ? `'${command}' succeeds` : `${http} answers`
}

/** The process that the restart policy started after an ended command; undefined if there is none. */
export function restartedAs({ kind, outcome }: ProcessRecord): string | undefined {
  if (kind !== 'command') return undefined
  const { pid } = Object(Object(outcome?.result).restart) as { readonly pid?: unknown }
  return typeof pid === 'string' ? pid : undefined
}

const NOTIFY = {
  complete: 'when it ends',
  failure: 'when it fails',
  none: 'never',
} as const

function within(timeoutMs: number | undefined): string {
  return timeoutMs === undefined ? '' : `, within ${shortTime(timeoutMs)}`
}

function watchText({ text, pattern }: { readonly text?: string; readonly pattern?: string }): string {
  return pattern === undefined ? (text ?? '') : `/${pattern}/`
}

function restartPolicy({ on, limit }: { readonly on: string; readonly limit?: number }): string {
  if (on === 'never') return 'never'
  const when = on === 'failure' ? 'when it fails' : 'whenever it ends'
  return limit === undefined ? when : `${when}, ${limit} in a row at most`
}
