import { type Refusal, refusal } from '../core/refusal.ts'
import type { KeeperIdentity } from '../keeper/protocol/program-state.ts'
import { descriptorLimitOf, freeDescriptors, openDescriptorsOf } from '../os/descriptors.ts'

export interface CommandRoomOptions {
  /** How many commands may run at once. */
  readonly most: number
  readonly keeper: () => KeeperIdentity
  /** How many have begun, and so have their descriptors open. */
  readonly begun: () => number
}

/**
 * How many commands may run at once: as many as are allowed, and as daemon and keeper have descriptors for. A reserve of these
 * is left for stops and reads: one command too many is refused, and running commands can still be ended.
 */
export class CommandRoom {
  readonly #options: CommandRoomOptions
  readonly #limits = new Map<string, number | null>()

  constructor(options: CommandRoomOptions) {
    this.#options = options
  }

  get most(): number {
    return Math.min(this.#options.most, this.#withDescriptors())
  }

  get full(): Refusal {
    const { most } = this.#options
    const now = this.#withDescriptors()
    return now < most ? tooFewDescriptors(now) : tooMany(most)
  }

  #withDescriptors(): number {
    const { keeper, begun } = this.#options
    const { id, osPid } = keeper()
    const free = Math.min(this.#freeOf('self', 'self'), this.#freeOf(id, osPid))
    return free === Number.POSITIVE_INFINITY ? free : begun() + Math.floor(free / MAX_PER_COMMAND)
  }

  /** Infinity if there are plenty, which saves the count, or if they cannot be counted. */
  #freeOf(name: string, osPid: number | 'self'): number {
    if (!this.#limits.has(name)) this.#limits.set(name, descriptorLimitOf(osPid))
    const limit = this.#limits.get(name) ?? null
    if (limit === null || limit >= PLENTY_PER_COMMAND * this.#options.most) return Number.POSITIVE_INFINITY
    const open = openDescriptorsOf(osPid)
    return open === null ? Number.POSITIVE_INFINITY : freeDescriptors({ limit, open })
  }
}

/** A command with a terminal needs the most: both ends of the terminal, and the files of its log. */
const MAX_PER_COMMAND = 4
/** With this many for each command that may run, descriptors do not run out. */
const PLENTY_PER_COMMAND = 32

function tooMany(most: number): Refusal {
  return refusal(
    'too_many_commands',
    `${most} commands are running, which is the limit.`,
    'End one of them, or raise the limit.',
  )
}

function tooFewDescriptors(running: number): Refusal {
  return refusal(
    'too_many_commands',
    `${running} commands are running, and the daemon or its keeper may open too few files for one more.`,
    'End one of them, or start the daemon with a higher limit of open files (ulimit -n).',
  )
}
