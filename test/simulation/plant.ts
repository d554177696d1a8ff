import type { Edges } from '../../src/kernel/edges.ts'
import type { Kernel, KernelOptions } from '../../src/kernel/kernel.ts'
import type { Plan } from '../../src/store/contract.ts'
import type { Transaction } from '../../src/store/group-commit.ts'
import type { Ledger } from './ledger.ts'

/** Which fence a kernel believes to have, of what it executes. */
export interface Planting {
  readonly holder: string
  readonly ledger: Ledger
  /** The fence of this kernel's last attempt at a process, as far as it knows. */
  fenceOf(pid: string): number | undefined
}

/** A known bug, put in at a seam of the kernel, to show that the simulator finds it. */
export interface Plant {
  readonly name: string
  /** One of these laws must be seen broken. */
  readonly laws: readonly string[]
  /** The seed that is tried first: those before it take their time and do not find it. Without it 1. */
  readonly since?: number
  readonly plan?: <Answer>(plan: Plan<Answer>, planting: Planting) => Plan<Answer>
  readonly transaction?: (inner: Transaction, planting: Planting) => Transaction
  readonly kernel?: (edges: Edges, options: KernelOptions) => Kernel
}
