import type { Peer } from '../peer.ts'
import type { World } from '../world.ts'

/** Something that somebody asks of one kernel. */
export interface Request {
  readonly name: string
  readonly weight: number
  ask(world: World, peer: Peer): void
}
