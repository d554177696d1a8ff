import type { Value } from '../link.ts'
import type { Staged } from '../staged.ts'
import type { Guard } from '../staged-row.ts'

/** No JSON text contains it: JSON escapes control characters. */
const RECORD_SEPARATOR = '\x1e'

/** The rows to compare, sorted: all transactions lock in this order. */
export function guards(staged: Staged): Value[] {
  const pids: { key: string; version: number }[] = []
  const scopes: { kind: string; key: string; id: string; session: string | null; version: number }[] = []
  for (const [key, { question, version }] of staged.guards) {
    if (question.ask === 'process') pids.push({ key: question.pid, version })
    else {
      const session = question.ask === 'turn' ? question.session : null
      scopes.push({ kind: question.ask, key, id: idOf(question), session, version })
    }
  }
  pids.sort(byKey)
  scopes.sort(byKey)
  return [
    pids.map(({ key }) => key),
    pids.map(({ version }) => version),
    scopes.length === 0 ? null : JSON.stringify(scopes),
  ]
}

function idOf(question: Exclude<Guard['question'], { ask: 'process' }>): string {
  if (question.ask === 'inbox') return question.scope
  if (question.ask === 'auditWindow') return question.key
  if (question.ask === 'liens') return question.host
  if (question.ask === 'revocation') return question.handle
  if (question.ask === 'delivery') return question.pid
  return question.ask === 'environment' ? question.ref : question.id
}

/** The events of the one process that commit_one writes. */
export function ownEvents({ events }: Staged): Value[] {
  return [
    events.map(({ type }) => type),
    events.map(({ at }) => at),
    events.map(({ actor }) => actor),
    events.map(({ replayKey }) => replayKey),
    packed(events.map(({ payload }) => JSON.stringify(payload))),
  ]
}

export function events({ events }: Staged): Value[] {
  return columns(events, [
    ({ pid }) => pid,
    ({ seq }) => seq,
    ({ type }) => type,
    ({ at }) => at,
    ({ actor }) => actor,
    ({ replayKey }) => replayKey,
  ]).concat(packed(events.map(({ payload }) => JSON.stringify(payload))))
}

export function notices({ notices }: Staged): Value[] {
  return columns(notices, [
    ({ scope }) => scope,
    ({ pid }) => pid,
    ({ seq }) => seq,
    ({ kind }) => kind,
    ({ at }) => at,
  ]).concat(
    packed(notices.map(({ payload }) => JSON.stringify(payload))),
    packed(notices.map(({ replyTo }) => JSON.stringify(replyTo))),
  )
}

/** One array per column; null for each if there are no rows. */
export function columns<Row>(
  rows: readonly Row[],
  cells: readonly ((row: Row) => string | number | null)[],
): Value[] {
  return cells.map((cell) => (rows.length === 0 ? null : rows.map(cell)))
}

export function packed(texts: readonly string[]): Value {
  return texts.length === 0 ? null : texts.join(RECORD_SEPARATOR)
}

function byKey(a: { readonly key: string }, b: { readonly key: string }): number {
  return a.key < b.key ? -1 : Number(a.key > b.key)
}
