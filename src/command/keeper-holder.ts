import type { Holder } from '../core/lease/holder.ts'
import type { KeeperIdentity } from '../keeper/protocol/program-state.ts'

/** A keeper as the holder of leases. Its incarnation is the data folder, so that the next keeper there can take over. */
export function keeperHolder(
  { id, host, boot, pidNamespace, osPid, startTime }: KeeperIdentity,
  homeId: string,
): Holder {
  return { id, host, boot, pidNamespace, osPid, startTime, role: 'keeper', incarnation: homeId, serves: [] }
}
