/** A place in the chain with its hash. Before the first entry, the position is 0 and the hash is empty. */
export interface AuditAnchor {
  readonly position: number
  readonly hash: string
}

/** The last entry that retention removed: the chain begins after it. The signature proves that Reeve removed the entries. */
export interface AuditStart extends AuditAnchor {
  readonly signature: string
}

/** An entry as the store keeps it. Its hash is that of the hash before it, followed by its text. */
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
