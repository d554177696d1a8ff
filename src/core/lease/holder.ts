import type { Kind } from '../process/record.ts'
import type { ToolDeclaration } from '../tool/declaration.ts'

/** The processes that a holder executes: a kind, and for kinds that name something (`tool`, `workflow`) which names. */
export interface Served {
  readonly kind: Kind
  readonly targets: readonly string[] | null
  /** Of tools: the declarations of those that have one. */
  readonly tools?: readonly ToolDeclaration[]
}

export const HOLDER_ROLES = ['kernel', 'keeper', 'worker'] as const

/** Holds leases: one kernel incarnation, one keeper, or one worker that writes through a daemon. */
export interface Holder {
  readonly id: string
  readonly role: (typeof HOLDER_ROLES)[number]
  readonly host: string
  readonly boot: string
  readonly pidNamespace: string
  readonly osPid: number
  readonly startTime: string
  readonly incarnation: string
  /** When its program began, where that is known. */
  readonly since?: number
  readonly serves: readonly Served[]
}

/** A holder's row as the store's own clock sees it. */
export interface HolderRow extends Holder {
  readonly renewedAt: number
  readonly expired: boolean
}

export const PROOFS = ['alive', 'dead', 'unknown'] as const
/** The evidence of this machine about a holder, apart from its row. */
export type Proof = (typeof PROOFS)[number]

/**
 * Expiry is a guess by time, proof is not. A holder that is provably alive never counts as dead (a laptop that
 * slept), and a holder that is provably dead counts as dead before its row expires.
 *
 * | row     | alive | dead | unknown |
 * | valid   | live  | dead | live    |
 * | expired | live  | dead | dead    |
 * | missing | dead  | dead | dead    |
 */
export function isDead(row: HolderRow | null, proof: Proof): boolean {
  if (row === null || proof === 'dead') return true
  return row.expired && proof !== 'alive'
}

/** Whether a holder lives, as users see it. `silent`: its row has expired, and nothing proves that it is dead. */
export interface HolderLiveness {
  readonly state: 'live' | 'silent' | 'dead'
  readonly proof: Proof
}

export function livenessOf(row: HolderRow, proof: Proof): HolderLiveness {
  if (isDead(row, proof)) return { state: 'dead', proof }
  return { state: row.expired ? 'silent' : 'live', proof }
}

export function isServed(serves: readonly Served[], kind: Kind, target: string | null): boolean {
  return serves.some(
    (served) =>
      served.kind === kind &&
      (served.targets === null || (target !== null && served.targets.includes(target))),
  )
}
