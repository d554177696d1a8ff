import type { Seat } from '../core/authority/person.ts'
import type { Json } from '../core/json/json.ts'
import type { Actor } from '../core/process/record.ts'
import type { Delivered } from '../core/trigger/delivery.ts'
import type { Reeve, ReeveVerbs } from '../verbs/reeve.ts'

/** The Reeve that a server serves. */
export interface Served extends Reeve {
  /** The current position of the change feed. */
  position(): number
  /** Whether it can do its work now. Rejects if the store does not answer. Costs little: it counts nothing, unlike `status`. */
  readiness(): Promise<Readiness>
  /** Acts as another actor without effects: inboxes and read positions do not change. */
  observing(actor: Actor, seat?: Seat): ReeveVerbs
  /** The webhooks of triggers. */
  readonly hooks: Hooks
  /** Acts for a client at a door, which may have another person than this program, or none. */
  calledFrom(seat: Seat, actor: Actor): ReeveVerbs
}

/** What the route of webhooks needs. It authenticates the requests. */
interface Hooks {
  /** Null if there is none. */
  webhook(id: string): Promise<Webhook | null>
  /** Resolves when the delivery is stored. Rejects if it is not accepted. */
  receive(id: string, delivery: string, body: Json): Promise<Delivered>
  /** Notes why requests were refused. */
  reject(id: string, reason: string): Promise<void>
}

interface Webhook {
  readonly secret: string
  readonly maxBytes: number
  readonly maxPerMinute: number
}

export interface Readiness {
  readonly isStoreWritable: boolean
  /** True where no commands are run. */
  readonly isKeeperAvailable: boolean
}

/** The log of a server. Each line has structured facts and a message. */
export interface Log {
  debug(facts: object, words: string): void
  info(facts: object, words: string): void
  warn(facts: object, words: string): void
  error(facts: object, words: string): void
}
