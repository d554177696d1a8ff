import * as z from 'zod'
import type { ProcessRecord } from '../core/process/record.ts'
import { kind, lifetime, status } from '../verbs/shapes/record.ts'
import { time } from '../verbs/shapes/scalars.ts'

/** What a model needs to know of a record. All of it is the resource `reeve://processes/{pid}`. */
export const processView = z.strictObject({
  pid: z.string(),
  name: z.string().nullable(),
  kind,
  status,
  what: z.string().describe('the command line, or what else it runs'),
  exitCode: z.number().int().nullable().describe('null while it runs, and where a signal ended it'),
  signal: z.string().nullable(),
  reason: z.string().nullable().describe('why it ended, where that was not its own doing'),
  message: z.string().nullable().describe('what went wrong, and what to do about it'),
  cwd: z.string().nullable(),
  lifetime,
  startedAt: time.nullable(),
  endedAt: time.nullable(),
})

export type ProcessView = z.output<typeof processView>

const MOST_WHAT = 300

export function viewOf(record: ProcessRecord): ProcessView {
  const { outcome } = record
  return {
    pid: record.pid,
    name: record.name,
    kind: record.kind,
    status: record.status,
    what: whatOf(record),
    exitCode: outcome?.exitCode ?? null,
    signal: outcome?.signal ?? null,
    reason: outcome?.reason ?? null,
    message: messageOf(record),
    cwd: record.cwd,
    lifetime: record.lifetime,
    startedAt: outcome?.startedAt ?? record.firstStarted?.at ?? null,
    endedAt: outcome?.endedAt ?? null,
  }
}

function whatOf({ spec, identity }: ProcessRecord): string {
  const { run, argv } = spec
  const what =
    typeof run === 'string' ? run : Array.isArray(argv) ? argv.map(quoted).join(' ') : identity.label
  return what.length > MOST_WHAT ? `${what.slice(0, MOST_WHAT)}…` : what
}

function quoted(argument: unknown): string {
  const text = String(argument)
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

function messageOf({ outcome }: ProcessRecord): string | null {
  const result: unknown = outcome?.result
  if (typeof result !== 'object' || result === null || !('message' in result)) return null
  const remedy = 'remedy' in result ? ` ${String(result.remedy)}` : ''
  return `${String(result.message)}${remedy}`
}
