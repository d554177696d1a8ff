import { targetOf } from '../../../core/process/record.ts'
import type { ProcessRow } from '../../../core/process/row.ts'
import { dueOf } from '../../due.ts'
import { movingText } from '../../record-text.ts'
import { definitionSignature, labelSignature } from '../../signature.ts'
import type { Value } from '../link.ts'
import type { Guard, Staged, StagedRow } from '../staged.ts'

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
  return question.ask === 'environment' ? question.ref : question.id
}

/** The parameters of commit_one that describe the process. */
export function processCells({ version, value }: StagedRow<ProcessRow>): Value[] {
  const { record, fence, holder, carry } = value
  const changing = [
    record.pid,
    version,
    record.revision,
    fence,
    holder,
    carry,
    dueOf(value),
    record.owner.session ?? null,
    record.wakeTarget,
    record.outcome?.endedAt ?? null,
    record.outcome?.status ?? null,
    movingText(record),
  ]
  if (version > 0) return [...changing, null, null, null, null, null, null, null, null, null]
  const { kind, spec, name, parent, root, createdAt, identity, placement } = record
  return [
    ...changing,
    kind,
    targetOf(kind, spec),
    name,
    parent,
    root,
    createdAt,
    labelSignature(identity.label),
    definitionSignature(identity.definition),
    placement,
  ]
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

export function newProcesses({ processes }: Staged): Value[] {
  const rows = [...processes.values()].flatMap(({ version, value }) => (version === 0 ? [value] : []))
  return columns(rows, [
    ...LEASE_CELLS,
    dueOf,
    ({ record }) => record.kind,
    ({ record }) => targetOf(record.kind, record.spec),
    ({ record }) => record.name,
    ({ record }) => record.parent,
    ({ record }) => record.root,
    ({ record }) => record.owner.session ?? null,
    ({ record }) => record.wakeTarget,
    ({ record }) => record.createdAt,
    ({ record }) => record.outcome?.endedAt ?? null,
    ({ record }) => record.outcome?.status ?? null,
    ({ record }) => labelSignature(record.identity.label),
    ({ record }) => definitionSignature(record.identity.definition),
    ({ record }) => record.placement,
  ]).concat(packed(rows.map(({ record }) => movingText(record))))
}

export function changedProcesses({ processes }: Staged): Value[] {
  const rows = [...processes.values()].flatMap(({ version, base, value }) =>
    version > 0 && base?.record !== value.record ? [value] : [],
  )
  return columns(rows, [
    ...LEASE_CELLS,
    dueOf,
    ({ record }) => record.owner.session ?? null,
    ({ record }) => record.wakeTarget,
    ({ record }) => record.outcome?.endedAt ?? null,
    ({ record }) => record.outcome?.status ?? null,
  ]).concat(packed(rows.map(({ record }) => movingText(record))))
}

/** Claims and renewals: the record is unchanged, and is not written again. */
export function changedLeases({ processes }: Staged): Value[] {
  const rows = [...processes.values()].flatMap(({ version, base, value }) =>
    version > 0 && base?.record === value.record ? [value] : [],
  )
  return columns(rows, [
    ({ record }) => record.pid,
    ({ fence }) => fence,
    ({ holder }) => holder,
    ({ carry }) => carry,
    dueOf,
  ])
}

const LEASE_CELLS: readonly ((row: ProcessRow) => string | number | null)[] = [
  ({ record }) => record.pid,
  ({ record }) => record.revision,
  ({ fence }) => fence,
  ({ holder }) => holder,
  ({ carry }) => carry,
]

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
function columns<Row>(
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
