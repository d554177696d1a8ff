import type { ProcessRecord } from './record.ts'

/** Only an approved process begins. `answered`: a question has its reply. `withdrawn`: the process ended before an answer. */
export const GATE_STATES = ['pending', 'approved', 'denied', 'answered', 'expired', 'withdrawn'] as const

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
