import { targetOf } from '../../../core/process/record.ts'
import type { ProcessRow } from '../../../core/process/row.ts'
import { dueOf } from '../../due.ts'
import { movingText } from '../../record-text.ts'
import { definitionSignature, labelSignature } from '../../signature.ts'
import type { Value } from '../link.ts'
import type { Staged } from '../staged.ts'
import type { StagedRow } from '../staged-row.ts'
import { columns, packed } from './commit-values.ts'

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
