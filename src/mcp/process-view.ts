import type { ProcessRecord } from '../core/process/record.ts'

/** The facts of a record that a model needs. The whole record is the resource `reeve://processes/{pid}`. */
export interface ProcessView {
  readonly pid: string
  readonly name: string | null
  readonly kind: ProcessRecord['kind']
  readonly status: ProcessRecord['status']
  /** The command line, or the label of another kind of process. */
  readonly what: string
  /** What a person put in its place when they approved it. */
  readonly ranInstead: string | null
  /** Null while it runs, or if a signal ended it. */
  readonly exitCode: number | null
  readonly signal: string | null
  /** Why it ended, if not by itself. */
  readonly reason: string | null
  /** What went wrong, and what to do about it. */
  readonly message: string | null
  readonly cwd: string | null
  readonly lifetime: ProcessRecord['lifetime']
  /** The approval of a person that it waits for before it starts. */
  readonly approval: string | null
  /** When the person was asked. */
  readonly askedAt: number | null
  /** It asks a person a question. */
  readonly isQuestion: boolean
  /** When it will start, if that is later. */
  readonly startsAt: number | null
  readonly startedAt: number | null
  readonly endedAt: number | null
  /** How many OS processes it left running when it ended. */
  readonly leftBehind: number
  /** The process that its restart policy started instead. */
  readonly restartedAs: string | null
  /** Why its restart policy could not start one. */
  readonly notRestarted: string | null
}

const MAX_WHAT_CHARS = 200

export function viewOf(record: ProcessRecord): ProcessView {
  const { outcome, gate } = record
  // A denied process never began: its gate stays as it was.
  const asked = gate?.state === 'pending' && outcome === null ? gate : null
  return {
    pid: record.pid,
    name: record.name,
    kind: record.kind,
    status: record.status,
    what: whatOf(record),
    ranInstead: ranInsteadOf(record),
    exitCode: outcome?.exitCode ?? null,
    signal: outcome?.signal ?? null,
    reason: outcome?.reason ?? null,
    message: messageOf(record),
    cwd: record.cwd,
    lifetime: record.lifetime,
    approval: asked?.approval ?? null,
    askedAt: asked === null ? null : (record.wait?.since ?? null),
    isQuestion: isQuestion(record),
    startsAt: record.status === 'queued' ? record.retryAt : null,
    startedAt: outcome?.startedAt ?? record.firstStarted?.at ?? null,
    endedAt: outcome?.endedAt ?? null,
    leftBehind: leftBehindOf(record),
    ...restartOf(record),
  }
}

/** For programs: without empty members, and with times in ISO 8601. */
export function structuredView(process: ProcessView): object {
  const { startsAt, startedAt, endedAt, askedAt, leftBehind, isQuestion: _, ...view } = process
  const known = Object.entries(view).filter(([, value]) => value !== null)
  return {
    ...Object.fromEntries(known),
    ...(askedAt === null ? {} : { askedAt: new Date(askedAt).toISOString() }),
    ...(startsAt === null ? {} : { startsAt: new Date(startsAt).toISOString() }),
    ...(startedAt === null ? {} : { startedAt: new Date(startedAt).toISOString() }),
    ...(endedAt === null ? {} : { endedAt: new Date(endedAt).toISOString() }),
    ...(leftBehind === 0 ? {} : { leftBehind }),
  }
}

function whatOf({ spec, identity }: ProcessRecord): string {
  const { run, argv } = spec
  const what =
    typeof run === 'string' ? run : Array.isArray(argv) ? argv.map(quoted).join(' ') : identity.label
  return what.length > MAX_WHAT_CHARS ? `${what.slice(0, MAX_WHAT_CHARS)}…` : what
}

/** The edited command, and the members that differ if the command alone does not show it. */
function ranInsteadOf(record: ProcessRecord): string | null {
  const { spec, effectiveSpec } = record
  if (effectiveSpec == null) return null
  const names = [...new Set([...Object.keys(spec), ...Object.keys(effectiveSpec)])]
  const changed = names.filter((name) => JSON.stringify(spec[name]) !== JSON.stringify(effectiveSpec[name]))
  const others = changed.filter((name) => name !== 'argv' && name !== 'run')
  return `${whatOf({ ...record, spec: effectiveSpec })}${others.length === 0 ? '' : ` (also changed: ${others.join(', ')})`}`
}

function quoted(argument: unknown): string {
  const text = String(argument)
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

function messageOf(record: ProcessRecord): string | null {
  const said = denialOf(record) ?? replyOf(record)
  if (said !== null) return said
  const result: unknown = record.outcome?.result
  if (typeof result !== 'object' || result === null || !('message' in result)) return null
  const remedy = 'remedy' in result ? ` ${String(result.remedy)}` : ''
  return `${String(result.message)}${remedy}`
}

function leftBehindOf({ outcome }: ProcessRecord): number {
  const result: unknown = outcome?.result
  if (typeof result !== 'object' || result === null || !('leftBehind' in result)) return 0
  return typeof result.leftBehind === 'number' ? result.leftBehind : 0
}

function restartOf({ kind, outcome }: ProcessRecord): Pick<ProcessView, 'restartedAs' | 'notRestarted'> {
  const restart: unknown = kind === 'command' ? Object(outcome?.result).restart : null
  const { pid, refused }: { pid?: unknown; refused?: unknown } = Object(restart)
  return {
    restartedAs: typeof pid === 'string' ? pid : null,
    notRestarted: typeof refused === 'string' ? refused : null,
  }
}

function isQuestion({ kind, spec }: ProcessRecord): boolean {
  return kind === 'tool' && spec['tool'] === 'human.ask'
}

/** What a person replied. */
function replyOf(record: ProcessRecord): string | null {
  const { outcome } = record
  if (!isQuestion(record) || outcome?.status !== 'completed') return null
  const { result } = outcome
  return `A person replied: ${typeof result === 'string' ? result : JSON.stringify(result)}`
}

/** What a person said who denied it. */
function denialOf(record: ProcessRecord): string | null {
  const { outcome } = record
  const isAsking = isQuestion(record)
  if (outcome?.reason === 'approval_expired')
    return isAsking ? 'No person replied in time.' : 'No person approved it in time, so it was not started.'
  if (outcome?.reason !== 'approval_denied') return null
  const { advice } = Object(outcome.result) as { readonly advice?: unknown }
  const denied = isAsking ? 'A person refused to reply' : 'A person denied it, so it was not started'
  return typeof advice === 'string' ? `${denied}: ${advice}` : `${denied}.`
}
