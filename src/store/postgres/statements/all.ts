import type { UnreadableRows } from '../../unreadable.ts'
import type { Link } from '../link.ts'
import { accountStatements } from './account.ts'
import { approvalStatements } from './approval.ts'
import { auditStatements } from './audit.ts'
import { authorityStatements } from './authority.ts'
import { eventStatements } from './event.ts'
import { holderStatements } from './holder.ts'
import { lienStatements } from './lien.ts'
import { listStatements } from './list.ts'
import { metaStatements } from './meta.ts'
import { noticeStatements } from './notice.ts'
import { objectStatements } from './object.ts'
import { type NumberedRow, processStatements } from './process.ts'
import { pruneStatements } from './prune.ts'
import { scheduleStatements } from './schedule.ts'
import { scopeStatements } from './scope.ts'
import { triggerStatements } from './trigger.ts'

/** `onRow` is called with every process row in an answer. */
export function allStatements(
  link: Link,
  at: string,
  onRow: (found: NumberedRow) => void,
  unreadable: UnreadableRows,
) {
  return {
    process: processStatements(link, at, onRow, unreadable),
    event: eventStatements(link, at, unreadable),
    scope: scopeStatements(link, at),
    lien: lienStatements(link, at),
    schedule: scheduleStatements(link, at),
    trigger: triggerStatements(link, at),
    holder: holderStatements(link, at),
    notice: noticeStatements(link, at),
    account: accountStatements(link, at),
    authority: authorityStatements(link, at),
    approval: approvalStatements(link, at),
    audit: auditStatements(link, at),
    meta: metaStatements(link, at),
    object: objectStatements(link, at),
    prune: pruneStatements(link, at),
    list: listStatements(link, at, onRow, unreadable),
  }
}
