import { ReeveError } from '../core/errors.ts'
import type { CallOptions, OutputOf, ReeveVerbs } from '../verbs/reeve.ts'

export type Approval = OutputOf<'approvals'>['approvals'][number]

/** How many are read: enough for a person to look at. */
const SHOWN = 200

/** How long the daemon may take to answer. */
const TIMEOUT_MS = 5_000

/** The approvals that wait for the caller: the most urgent first, then the oldest. `count`: how many wait in all. */
export interface PendingApprovals {
  readonly approvals: readonly Approval[]
  readonly count: number
}

/** The pending approvals of the person who calls, or all if it is unknown who calls. */
export async function pendingApprovals(
  reeve: Pick<ReeveVerbs, 'approvals' | 'whoami'>,
  options: CallOptions = {},
): Promise<PendingApprovals> {
  const { person } = await reeve.whoami({}, options)
  const name = person?.slice('human:'.length)
  const { approvals = [], pending } = await reeve.approvals(
    { order: 'priority', limit: SHOWN, ...(name === undefined ? {} : { person: name }) },
    options,
  )
  return { approvals, count: pending ?? approvals.length }
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
  const [first] = pending?.approvals ?? []
  if (pending === null || first === undefined) return null
  if (pending.count === 1) return `1 approval waits for you: ${howToAnswer(first)}`
  return `${pending.count} approvals wait for you: reeve approvals`
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
