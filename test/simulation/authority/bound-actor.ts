import type { Ceiling } from '../../../src/core/capability/ceiling.ts'
import type { Pid } from '../../../src/core/process/pid.ts'
import type { ProcessRecord } from '../../../src/core/process/record.ts'
import type { Ledger } from '../ledger.ts'
import { DAEMON_FOLDER } from './policy-folders.ts'
import type { ModelNeed } from './rule-model.ts'

/** The actor that rules bind, and the subjects whose sets apply to it. */
export interface BoundActor {
  readonly subject: string
  readonly sets: readonly string[]
  /** The session that it acts in and those above it, the nearest first. */
  readonly sessions: readonly string[]
  /** Of a process: those above it. */
  readonly above: readonly Pid[]
}

/** Null for people, the host and kernels, which no rule binds. A tool acts as the agent or the session that called it. */
export function boundActor(ledger: Ledger, actor: string): BoundActor | null {
  const [kind, id = ''] = actor.split(/:(.*)/s)
  if (kind === 'session') {
    const sessions = [id, ...(ledger.sessions.get(id)?.sessionsAbove ?? [])]
    return { subject: actor, sets: ['home', ...setsOf(sessions)], sessions, above: [] }
  }
  if (kind !== 'process') return null
  const lineage = lineageOf(ledger, id)
  const [own] = lineage
  const acting = lineage.filter((record) => record.kind !== 'tool').map(({ pid }) => `process:${pid}`)
  const sessions = own === undefined ? [] : sessionsOf(own)
  const subject = acting[0] ?? (sessions.length === 0 ? undefined : `session:${sessions[0]}`)
  if (subject === undefined) return null
  const sets = ['home', ...setsOf(sessions), ...acting]
  return { subject, sets, sessions, above: lineage.slice(1).map(({ pid }) => pid) }
}

/** The sets that bind an act: those of its actor, of the session that it is registered into, and of the folders. */
export function setsFor(ledger: Ledger, { sets }: BoundActor, record: ActRecord): readonly string[] {
  const all = [...new Set([...sets, ...setsOf(sessionsOf(record))])]
  const workspaces = all.flatMap((set) =>
    set.startsWith('session:') ? (ledger.sessions.get(set.slice('session:'.length))?.workspaces ?? []) : [],
  )
  const own = record.kind === 'command' ? [record.cwd ?? DAEMON_FOLDER] : []
  const folders = new Set([...workspaces, ...own].flatMap(foldersAbove))
  return [...all, ...[...folders].flatMap((folder) => [`workspace:${folder}`, `file:${fileOf(folder)}`])]
}

/** Those that its start must respect. */
export function ceilingsOver({ pid, ceilings = [] }: Pick<ProcessRecord, 'pid' | 'ceilings'>) {
  return ceilings.filter(({ givenTo }) => givenTo !== pid).map(ceilingAsSet)
}

export function ceilingAsSet({ givenTo, rules }: Ceiling) {
  return { subject: `ceiling:${givenTo}`, rules }
}

type ActRecord = Pick<ProcessRecord, 'kind' | 'cwd' | 'owner' | 'sessionsAbove'>

/** The process and those above it, the nearest first; with pruned ones, whose places in the tree are known. */
export function lineageOf(ledger: Ledger, pid: Pid): readonly ProcessRecord[] {
  const record = ledger.entry(pid)?.record
  if (record === undefined) return []
  return [record, ...(record.parent === null ? [] : lineageOf(ledger, record.parent))]
}

/** What the start of a process needs; null for one that Reeve does not start. */
export function needOf({ kind, spec }: Pick<ProcessRecord, 'kind' | 'spec'>): ModelNeed | null {
  if (kind === 'external') return null
  if (kind !== 'command') {
    const name = String(spec[kind])
    const need = { right: 'execute', kind, name, args: [] }
    return kind === 'tool' && name === 'human.ask' ? { ...need, isImplied: true } : need
  }
  return needOfCommand(
    Array.isArray(spec['argv']) ? spec['argv'].map(String) : String(spec['run']).split(' '),
  )
}

export function needOfCommand([name = '', ...args]: readonly string[]): ModelNeed {
  return { right: 'execute', kind: 'shell', name, args }
}

function sessionsOf({ owner, sessionsAbove }: Pick<ActRecord, 'owner' | 'sessionsAbove'>): readonly string[] {
  return owner.session === undefined ? [] : [owner.session, ...(sessionsAbove ?? [])]
}

function setsOf(sessions: readonly string[]): readonly string[] {
  return sessions.map((session) => `session:${session}`)
}

function foldersAbove(folder: string): readonly string[] {
  const names = folder.split('/').filter((name) => name !== '')
  return ['/', ...names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`)]
}

function fileOf(folder: string): string {
  return `${folder === '/' ? '' : folder}/.reeve/policy.json`
}
