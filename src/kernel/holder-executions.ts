import { type Placement, placementsOf } from '../core/placement/placement.ts'
import type { Edges } from './edges.ts'
import { Executions } from './executions.ts'
import { restoredKeepers } from './keepers.ts'
import type { Kernel, KernelOptions } from './kernel.ts'

export interface HolderExecutions {
  /** Where this kernel is: its host, and the data folders of its keepers. */
  readonly here: readonly Placement[]
  /** First the executions of this kernel's own row, then those of each keeper. */
  readonly executions: readonly Executions[]
}

/** One `Executions` per holder: the kernel itself, and each keeper. `isInLease`: the kernel's row has not lapsed. */
export function holderExecutions(
  edges: Edges,
  kernel: Kernel,
  { holder, executors, concurrency }: KernelOptions,
  isInLease: () => boolean,
): HolderExecutions {
  const own = executors.filter(({ keeping }) => keeping === undefined)
  const keepers = executors.flatMap(({ keeping }) => (keeping === undefined ? [] : [keeping.holder]))
  const here = placementsOf([holder, ...keepers, ...executors.flatMap(restoredKeepers)])
  const most = () => concurrency
  const ofKernel = new Executions(edges, kernel, holder.id, own, { most, here, mayClaim: isInLease })
  const ofKeepers = executors.flatMap((executor) => {
    const { keeping } = executor
    if (keeping === undefined) return []
    const options = {
      most: () => keeping.most,
      here,
      mayClaim: () => isInLease() && keeping.available,
    }
    return [new Executions(edges, kernel, keeping.holder.id, [executor], options)]
  })
  return { here, executions: [ofKernel, ...ofKeepers] }
}
