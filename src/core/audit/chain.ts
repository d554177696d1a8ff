/** The end of a link, with its hash. Before the first link, the position is 0 and the hash is empty. */
export interface AuditAnchor {
  readonly position: number
  readonly hash: string
}

/** The end of the last link that retention removed: the chain begins after it. The signature proves that Reeve removed the entries. */
export interface AuditStart extends AuditAnchor {
  readonly signature: string
}

/**
 * A link of the chain: entries that were committed together. Its position is that of its last entry, its time the latest of theirs. Its
 * hash is that of the hash before it, followed by its text.
 */
export interface AuditLink extends AuditAnchor {
  readonly at: number
  readonly text: string
}

/** An entry with its own place and time. The hash is that of its link. */
export interface ChainedEntry extends AuditAnchor {
  readonly at: number
  readonly text: string
}

export interface AuditTail extends AuditAnchor {
  /** Null while no entry was removed. */
  readonly start: AuditStart | null
}

export const CHAIN_BEGIN: AuditAnchor = { position: 0, hash: '' }

/** The text whose signature proves that Reeve removed the entries up to a place. */
export function auditStartText({ position, hash }: AuditAnchor): string {
  return `audit start ${position} ${hash}`
}
