import { ReeveError } from '../core/errors.ts'
import type { Holder } from '../core/lease/holder.ts'
import type { Edges } from './edges.ts'
import type { Executions } from './executions.ts'
import { type HolderTimes, renew, renewAnnounced } from './holders.ts'

export interface PresenceOptions {
  readonly holder: Holder
  /** Another identity of the same program, for a kernel that goes on after its row was removed. */
  readonly successor: () => Holder
  readonly times: HolderTimes
  /** First the executions of this kernel's own row, then those of each keeper. */
  readonly executions: () => readonly Executions[]
  readonly isClosed: () => boolean
}

/**
 * How a kernel shows that it lives: by its own row and those of its keepers.
 *
 * | its row is found | reaction                                                                            |
 * | valid            | renews it                                                                           |
 * | expired          | renews it, and reclaims the leases that are still its own, with higher fences       |
 * | gone             | other kernels settled its processes: it forgets them, and goes on under another id  |
 */
export class Presence {
  readonly #edges: Edges
  readonly #options: PresenceOptions
  #holder: Holder
  #renewedAt = 0
  /** Its row had lapsed, or may have, and its leases have not all been reclaimed yet. */
  #lapsed = false
  #renewing: Promise<void> | undefined

  constructor(edges: Edges, options: PresenceOptions) {
    this.#edges = edges
    this.#options = options
    this.#holder = options.holder
  }

  get id(): string {
    return this.#holder.id
  }

  /** Writes all rows for the first time. */
  async announce(): Promise<void> {
    const { times, executions } = this.#options
    this.#renewedAt = this.#edges.clock.now()
    await renew(this.#edges, this.#announced, times)
    for (const { keeping } of executions())
      if (keeping !== undefined) await renew(this.#edges, keeping.holder, times)
  }

  /** Undefined while it is certain that this kernel holds its leases; else resolves when its row is renewed. */
  sure(): Promise<void> | undefined {
    if (!this.mayHaveLapsed) return undefined
    // After a clock that jumped ahead many calls may ask at once.
    this.#renewing ??= this.renew().finally(() => {
      this.#renewing = undefined
    })
    return this.#renewing
  }

  /** Renews this kernel's row. If it had lapsed, reclaims its leases. */
  async renew(): Promise<void> {
    const at = this.#edges.clock.now()
    try {
      await this.#renewKeepers()
      const announced = this.#announced
      const answer = await renewAnnounced(this.#edges, announced, this.#options.times)
      if (answer === 'gone') await this.#goOnInsteadOf(announced.id)
      if (answer === 'lapsed') this.#lapsed = true
      this.#renewedAt = at
    } catch (error) {
      // The write may have been committed. Then the next renewal cannot tell that the row had lapsed before.
      if (error instanceof ReeveError && error.code === 'outcome_unknown') this.#lapsed = true
      throw error
    }
    if (!this.#lapsed) return
    for (const executions of this.#options.executions()) await executions.reclaim()
    this.#lapsed = false
    this.#look()
  }

  /** By this kernel's own clock. Until it has renewed its row again, it claims nothing. */
  get mayHaveLapsed(): boolean {
    return this.#edges.clock.now() - this.#renewedAt >= this.#options.times.ttlMs
  }

  async #renewKeepers(): Promise<void> {
    const { times } = this.#options
    for (const executions of this.#options.executions()) {
      const { keeping } = executions
      if (keeping === undefined) continue
      if ((await renewAnnounced(this.#edges, keeping.holder, times)) !== 'gone') continue
      // The keeper was removed but lives: it accepts new commands, and ends programs whose processes others have settled.
      await executions.endSettled()
      await renew(this.#edges, keeping.holder, times)
      executions.look()
    }
  }

  async #goOnInsteadOf(former: string): Promise<void> {
    // A closing kernel removed its row itself; and two renewals at once may both find it gone.
    if (this.#options.isClosed() || this.id !== former) return
    this.#holder = this.#options.successor()
    const [own] = this.#options.executions()
    own?.holdAs(this.id)
    await renew(this.#edges, this.#announced, this.#options.times)
    this.#look()
  }

  get #announced(): Holder {
    return { ...this.#holder, serves: this.#options.executions().flatMap(({ serves }) => serves) }
  }

  #look(): void {
    for (const executions of this.#options.executions()) executions.look()
  }
}
