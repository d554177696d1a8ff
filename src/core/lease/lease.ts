/** The right to execute one process: who has it, and the number that rises with every claim. */
export interface Lease {
  readonly holder: string | null
  readonly fence: number
}

/** The fence that each write of an executor carries, so that a lost lease writes nothing. */
export interface Fence {
  readonly holder: string
  readonly fence: number
}

export function holds(lease: Lease, fence: Fence): boolean {
  return lease.holder === fence.holder && lease.fence === fence.fence
}
