import type { ProcessRecord } from './record.ts'

export const GATE_STATES = ['pending', 'approved'] as const

/** The approval that a process needs before it may begin. */
export interface Gate {
  /** The id of the approval. */
  readonly approval: string
  /** The hash of the action that was asked about, or that was approved: another action needs another approval. */
  readonly actionHash: string
  readonly state: (typeof GATE_STATES)[number]
  /** When the approval expires, which ends the process; null if never. */
  readonly expiresAt: number | null
}

/** Whether it may not begin, because its approval is pending. */
export function awaitsApproval({ gate }: Pick<ProcessRecord, 'gate'>): boolean {
  return gate?.state === 'pending'
}
