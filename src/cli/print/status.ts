import type { OutputOf } from '../../verbs/reeve.ts'
import { localTime } from '../moment.ts'
import type { Colours } from './colour.ts'
import type { Cell } from './table.ts'

export type ProcessRecord = OutputOf<'show'>

/** `running`, `completed`, `failed 7`, `cancelled SIGTERM`, `failed timeout`. */
export function statusText(record: ProcessRecord): string {
  const { status, outcome } = record
  const asks = askedIn(record)
  if (asks !== null) return `waiting (${asks.request.type === 'question' ? 'question' : 'approval'})`
  if (outcome === null) return status
  if (outcome.status === 'completed') return status
  if (outcome.reason === 'failed_start') return 'failed to start'
  const how = outcome.reason === null || outcome.reason === 'killed' ? undefined : outcome.reason
  const by = how ?? outcome.signal ?? (outcome.exitCode === null ? undefined : String(outcome.exitCode))
  return by === undefined || by === status ? status : `${status} ${by}`
}

/** The approval that a process waits for; null if it waits for none. */
export function askedIn({ gate, kind, spec, outcome }: ProcessRecord) {
  // A daemon of an older version has no approvals.
  if (gate?.state !== 'pending' || outcome !== null) return null
  const type =
    kind === 'tool' && spec['tool'] === 'human.ask' ? ('question' as const) : ('permission' as const)
  return { id: gate.approval, request: { type } }
}

/** The status; for a waiting process also the awaited condition. */
export function progressText(record: ProcessRecord): string {
  const { wait, moreWaits, status } = record
  if (status !== 'waiting' || wait === null) return statusText(record)
  const what = wait.on === 'timer' ? `until ${localTime(wait.until ?? 0)}` : `for ${wait.on} ${wait.name}`
  return `waiting ${what}${moreWaits.length === 0 ? '' : ` and ${moreWaits.length} more`}`
}

/** Why a command or an agent could not be started, and what to do about it. */
export function startFailure({
  pid,
  kind,
  outcome,
}: ProcessRecord): { message: string; remedy: string } | undefined {
  if (outcome?.reason === 'setup_failed' && kind === 'agent')
    return { message: 'It could not be set up.', remedy: `Its session says why: reeve agent show ${pid}` }
  if (outcome?.reason !== 'failed_start') return undefined
  const { message, remedy } = Object(outcome.result) as { message?: unknown; remedy?: unknown }
  return { message: String(message ?? 'It could not be started.'), remedy: String(remedy ?? '') }
}

export function statusCell(record: ProcessRecord, colours: Colours): Cell {
  return { text: statusText(record), paint: statusColour(record.status, colours) }
}

export function statusColour(status: ProcessRecord['status'], colours: Colours): (text: string) => string {
  switch (status) {
    case 'running':
      return colours.green
    case 'failed':
    case 'abandoned':
      return colours.red
    case 'stopping':
    case 'paused':
    case 'cancelled':
      return colours.yellow
    case 'queued':
    case 'waiting':
      return colours.cyan
    case 'completed':
      return colours.dim
  }
}

/** The command as a shell takes it; for other kinds, the label of the process. */
export function commandText({ identity, spec, kind }: ProcessRecord): string {
  if (kind !== 'command') return identity.label === kind ? kind : `${kind} ${identity.label}`
  const { run, argv } = spec as { run?: string; argv?: readonly string[] }
  if (run !== undefined) return run
  return argv === undefined ? identity.label : argv.map(quoted).join(' ')
}

/** Quotes an argument for a shell, if it needs quotes. */
export function quoted(argument: string): string {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`
}
