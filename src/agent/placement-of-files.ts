import type { PlacementRequest } from '../core/placement/placement.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { Kernel } from '../kernel/kernel.ts'

/** Files are those of a machine: where several machines share a store, the machine that drives an agent works with the files of the agent. */
export function placementOfFiles({ placement }: ProcessRecord, { edges, host }: Kernel): PlacementRequest {
  const isShared = edges.machine !== undefined && edges.machine !== null
  return placement === null && isShared && host !== null ? `host:${host}` : 'parent'
}
