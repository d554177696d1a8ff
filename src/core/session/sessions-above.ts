import { hasEnded, type ProcessRecord } from '../process/record.ts'

/** Its session and those above that one, the nearest first. */
export function sessionsOf({
  owner,
  sessionsAbove,
}: Pick<ProcessRecord, 'owner' | 'sessionsAbove'>): readonly string[] {
  return owner.session === undefined ? NONE : [owner.session, ...(sessionsAbove ?? NONE)]
}

const NONE: readonly string[] = []

/** A process of a session below, as a store indexes it for the session above. */
export interface BelowSession {
  readonly session: string
  readonly isEnded: boolean
}

export interface BelowChanges {
  readonly added: readonly BelowSession[]
  readonly removed: readonly BelowSession[]
}

/** How the index of processes below sessions changes with a record; null if it does not, as with most events. */
export function belowChanges(was: ProcessRecord | null, record: ProcessRecord): BelowChanges | null {
  const before = was?.sessionsAbove ?? NONE
  const after = record.sessionsAbove ?? NONE
  if (before.length === 0 && after.length === 0) return null
  const wasEnded = was !== null && hasEnded(was)
  const isEnded = hasEnded(record)
  if (wasEnded === isEnded && before.length === after.length && before.every((id, at) => id === after[at]))
    return null
  return {
    added: after.map((session) => ({ session, isEnded })),
    removed: before.map((session) => ({ session, isEnded: wasEnded })),
  }
}
