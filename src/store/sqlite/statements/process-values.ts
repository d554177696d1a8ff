import type { SQLInputValue } from 'node:sqlite'
import { targetOf } from '../../../core/process/record.ts'
import type { ProcessRow } from '../../../core/process/row.ts'
import { dueOf } from '../../due.ts'
import { movingText } from '../../record-text.ts'
import { definitionSignature, labelSignature } from '../../signature.ts'

/** The values of a new row, in the order of the columns of its `insert`. */
export function newProcess(row: ProcessRow): SQLInputValue[] {
  const { record, fence, holder, carry } = row
  return [
    record.pid,
    record.revision,
    fence,
    holder,
    carry,
    dueOf(row),
    record.kind,
    targetOf(record.kind, record.spec),
    record.name,
    record.parent,
    record.root,
    record.owner.session ?? null,
    record.wakeTarget,
    record.createdAt,
    record.outcome?.endedAt ?? null,
    record.outcome?.status ?? null,
    labelSignature(record.identity.label),
    definitionSignature(record.identity.definition),
    movingText(record),
    record.placement,
  ]
}

export function changedProcess(row: ProcessRow): SQLInputValue[] {
  const { record, fence, holder, carry } = row
  return [
    record.revision,
    fence,
    holder,
    carry,
    dueOf(row),
    record.owner.session ?? null,
    record.wakeTarget,
    record.outcome?.endedAt ?? null,
    record.outcome?.status ?? null,
    movingText(record),
  ]
}

/** An event that changes no indexed column. */
export function changedRecord({ record }: ProcessRow): SQLInputValue[] {
  return [record.revision, movingText(record)]
}

/** Claims and renewals: the record is unchanged, and is not written again. */
export function changedLease(row: ProcessRow): SQLInputValue[] {
  return [row.fence, row.holder, row.carry, dueOf(row)]
}
