import type { Pid } from '../../../src/core/process/pid.ts'
import type { ProcessRecord } from '../../../src/core/process/record.ts'
import type { Ledger } from '../ledger.ts'
import type { ModelNeed } from './rule-model.ts'

/** The actor that rules bind, and the subjects whose sets apply to it. */
export interface BoundActor {
  readonly subject: string
  readonly sets: readonly string[]
  readonly session: string | undefined
  /** Of a process: those above it. */
  readonly above: readonly Pid[]
}

/** Null for people, the host and kernels, which no rule binds. A tool acts as the agent or the session that called it. */
export function boundActor(ledger: Ledger, actor: string): BoundActor | null {
  const [kind, id = ''] = actor.split(/:(.*)/s)
  if (kind === 'session') return { subject: actor, sets: ['home', actor], session: id, above: [] }
  if (kind !== 'process') return null
  const lineage = lineageOf(ledger, id)
  const session = lineage[0]?.owner.session
  const acting = lineage.filter((record) => record.kind !== 'tool').map(({ pid }) => `process:${pid}`)
  const subject = acting[0] ?? (session === undefined ? undefined : `session:${session}`)
  if (subject === undefined) return null
  const sets = ['home', ...(session === undefined ? [] : [`session:${session}`]), ...acting]
  return { subject, sets, session, above: lineage.slice(1).map(({ pid }) => pid) }
}

/** The process and those above it, the nearest first; with pruned ones, whose places in the tree are known. */
export function lineageOf(ledger: Ledger, pid: Pid): readonly ProcessRecord[] {
  const record = ledger.entry(pid)?.record
  if (record === undefined) return []
  return [record, ...(record.parent === null ? [] : lineageOf(ledger, record.parent))]
}

/** What the start of a process needs; null for one that Reeve does not start. */
export function needOf({ kind, spec }: Pick<ProcessRecord, 'kind' | 'spec'>): ModelNeed | null {
  if (kind === 'external') return null
  if (kind !== 'command') return { right: 'execute', kind, name: String(spec[kind]), args: [] }
  return needOfCommand(
    Array.isArray(spec['argv']) ? spec['argv'].map(String) : String(spec['run']).split(' '),
  )
}

export function needOfCommand([name = '', ...args]: readonly string[]): ModelNeed {
  return { right: 'execute', kind: 'shell', name, args }
}
