import { emptyInbox } from '../core/inbox/inbox.ts'
import { isSameScope, nameGuardOf } from '../core/process/if-running.ts'
import { hasEnded, type Owner } from '../core/process/record.ts'
import type { RegistrationRequest } from '../core/process/registration-request.ts'
import type { ProcessRow } from '../core/process/row.ts'
import { type Change, know, type Page } from '../store/contract.ts'
import type { PlanPart } from './plan-part.ts'
import type { WorkingRows } from './working-rows.ts'

const NAMED_PAGE = 100

/** The live process that has the requested name in the owner's scope, if the request asks about one. */
export function* runningAs(
  rows: WorkingRows,
  { name, ifRunning }: RegistrationRequest,
  owner: Owner,
): PlanPart<ProcessRow | null> {
  if (name === undefined || ifRunning === undefined) return null
  // Read before the processes: a registration between the two reads changes this row.
  yield* know({ ask: 'inbox', scope: nameGuardOf(owner) })
  const isMeant = ({ record }: ProcessRow) =>
    record.name === name && !hasEnded(record) && isSameScope(record.owner, owner)
  for (const change of rows.changes)
    if (change.type === 'process' && change.was === null && isMeant(change.row)) return change.row
  const filter = {
    name: [name],
    ...(owner.session === undefined ? {} : { owner: { session: [owner.session] } }),
  }
  let after: number | null = null
  do {
    const page: Page<ProcessRow> = yield* know({ ask: 'processes', filter, after, limit: NAMED_PAGE })
    const found = page.items.find(isMeant)
    if (found !== undefined) return found
    after = page.next
  } while (after !== null)
  return null
}

/** The change that makes two registrations that depend on one name conflict, so that the later is decided again. */
export function* guardOfName(owner: Owner): PlanPart<Change> {
  const scope = nameGuardOf(owner)
  const was = yield* know({ ask: 'inbox', scope })
  return { type: 'inbox', was, inbox: was ?? emptyInbox(scope) }
}
