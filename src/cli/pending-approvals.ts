import { ReeveError } from '../core/errors.ts'
import type { CallOptions, OutputOf, ReeveVerbs } from '../verbs/reeve.ts'

export type Approval = OutputOf<'approvals'>['approvals'][number]

const PAGE = 200
/** How many are read: enough for a person to know that there are many. */
const MAX_PAGES = 5

/** How long the daemon may take to answer. */
const TIMEOUT_MS = 5_000

/** The approvals that wait for the caller: the most urgent first, then the oldest. `isAll`: there are no others. */
export interface PendingApprovals {
  readonly approvals: readonly Approval[]
  readonly isAll: boolean
}

/** The pending approvals of the person who calls, or all if it is unknown who calls. */
export async function pendingApprovals(
  reeve: Pick<ReeveVerbs, 'approvals' | 'whoami'>,
  options: CallOptions = {},
): Promise<PendingApprovals> {
  const { person } = await reeve.whoami({}, options)
  const found: Approval[] = []
  let after: number | null = null
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const from: { after?: number } = after === null ? {} : { after }
    const page: OutputOf<'approvals'> = await reeve.approvals(
      { state: 'pending', limit: PAGE, ...from },
      options,
    )
    // A daemon of an older version may answer with something else.
    found.push(...(page.approvals ?? []))
    after = page.next ?? null
    if (after === null) break
  }
  const mine = found.filter((approval) => isAskedOf(approval, person ?? null))
  return { approvals: inOrder(mine), isAll: after === null }
}

/** The same beside other facts; null if they cannot be read, as with a daemon of an older version. */
export async function pendingApprovalsIfKnown(
  reeve: Pick<ReeveVerbs, 'approvals' | 'whoami'>,
): Promise<PendingApprovals | null> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  try {
    return await pendingApprovals(reeve, { signal })
  } catch (error) {
    if (error instanceof ReeveError || signal.aborted) return null
    throw error
  }
}

/** How many approvals wait, and how to answer; null if none waits. */
export function pendingText(pending: PendingApprovals | null): string | null {
  const [first, ...others] = pending?.approvals ?? []
  if (pending === null || first === undefined) return null
  if (others.length === 0 && pending.isAll) return `1 approval waits for you: ${howToAnswer(first)}`
  return `${pending.isAll ? '' : 'At least '}${others.length + 1} approvals wait for you: reeve approvals`
}

/** What to type for an answer. */
export function howToAnswer({
  id,
  request: { type },
}: {
  readonly id: string
  readonly request: { readonly type: Approval['request']['type'] }
}): string {
  return type === 'question'
    ? `reeve reply ${id} <text>, or reeve deny ${id}`
    : `reeve approve ${id}, or reeve deny ${id} [advice]`
}

export function isAskedOf({ person: asked }: Pick<Approval, 'person'>, person: string | null): boolean {
  return asked === null || person === null || `human:${asked}` === person
}

function inOrder(approvals: readonly Approval[]): Approval[] {
  return approvals.toSorted((a, b) => b.request.priority - a.request.priority || a.askedAt - b.askedAt)
}
