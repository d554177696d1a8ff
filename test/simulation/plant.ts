import type { Edges } from '../../src/kernel/edges.ts'
import type { Kernel, KernelOptions } from '../../src/kernel/kernel.ts'
import type { Plan } from '../../src/store/contract.ts'
import type { Transaction } from '../../src/store/group-commit.ts'
import type { Ledger } from './ledger.ts'
import type { WorldKind } from './world-kind.ts'

/** The fences that a kernel believes to have. */
export interface Planting {
  readonly holder: string
  readonly ledger: Ledger
  /** The fence of this kernel's last attempt at a process, as the kernel knows it. */
  fenceOf(pid: string): number | undefined
}

/** A known bug, planted at an interface of the kernel, to show that the simulator finds it. */
export interface Plant {
  readonly name: string
  /** The simulator must report that one of these laws is broken. */
  readonly laws: readonly string[]
  /** The world that it needs, by default one without rules and agents. */
  readonly kind?: WorldKind
  /**
   * The first seed to try, by default 1: it saves the time of earlier seeds, which did not find the bug. A change of the kernel or a
   * new request changes what every seed does: then a later seed finds it. `npm run simulate -- --plants` prints the first ones.
   */
  readonly since?: number
  /** The requests that show it, if they are so rare that few seeds do: they are made ten times as often. */
  readonly often?: readonly string[]
  readonly plan?: <Answer>(plan: Plan<Answer>, planting: Planting) => Plan<Answer>
  readonly transaction?: (inner: Transaction, planting: Planting) => Transaction
  readonly kernel?: (edges: Edges, options: KernelOptions) => Kernel
}
