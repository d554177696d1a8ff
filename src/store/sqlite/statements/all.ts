import type { DatabaseSync } from 'node:sqlite'
import type { UnreadableRows } from '../../unreadable.ts'
import { accountStatements } from './account.ts'
import { approvalStatements } from './approval.ts'
import { auditStatements } from './audit.ts'
import { authorityStatements } from './authority.ts'
import { blobReferenceStatements } from './blob-reference.ts'
import { eventStatements } from './event.ts'
import { holderStatements } from './holder.ts'
import { lienStatements } from './lien.ts'
import { listStatements } from './list.ts'
import { metaStatements } from './meta.ts'
import { noticeStatements } from './notice.ts'
import { objectStatements } from './object.ts'
import { processStatements } from './process.ts'
import { pruneStatements } from './prune.ts'
import { scheduleStatements } from './schedule.ts'
import { scopeStatements } from './scope.ts'
import { triggerStatements } from './trigger.ts'

export function allStatements(db: DatabaseSync, unreadable: UnreadableRows) {
  return {
    process: processStatements(db, unreadable),
    event: eventStatements(db, unreadable),
    scope: scopeStatements(db),
    lien: lienStatements(db),
    schedule: scheduleStatements(db),
    trigger: triggerStatements(db),
    holder: holderStatements(db),
    notice: noticeStatements(db),
    account: accountStatements(db),
    authority: authorityStatements(db),
    approval: approvalStatements(db),
    audit: auditStatements(db),
    blobReference: blobReferenceStatements(db),
    meta: metaStatements(db),
    object: objectStatements(db),
    prune: pruneStatements(db),
    list: listStatements(db, unreadable),
  }
}

export type Statements = ReturnType<typeof allStatements>
