import type { Peer } from '../peer.ts'
import type { World } from '../world.ts'

/** A request that a client makes to one kernel. */
export interface Request {
  readonly name: string
  readonly weight: number
  ask(world: World, peer: Peer, track: Track): void
}

/** `World.track` under the name of the request. */
type Track = <Answer>(about: string, asked: Promise<Answer>, then?: (answer: Answer) => void) => void
