import { pause } from '../base/pause.ts'
import { ReeveError } from '../core/errors.ts'
import { systemClock } from '../store/system-clock.ts'
import type { InputOf, OutputOf, Reeve } from '../verbs/reeve.ts'

export interface AnnouncementsOptions {
  readonly worker: string
  readonly serves: () => Pick<InputOf<'announceWorker'>, 'workflows' | 'tools'>
  readonly closing: AbortSignal
  /** Asks the daemon which leases are lost, and stops those attempts. */
  readonly findLost: () => Promise<void>
}

/** Keeps a worker's holder row at its daemon, and knows for how long its leases are certain. */
export class Announcements {
  readonly #reeve: Reeve
  readonly #options: AnnouncementsOptions
  #last: Promise<unknown> = Promise.resolve()
  /** When all leases were last known to be held, and how long that counts. */
  #certainAt: number | undefined
  #ttlMs = 0
  #checking: Promise<void> | undefined

  constructor(reeve: Reeve, options: AnnouncementsOptions) {
    this.#reeve = reeve
    this.#options = options
  }

  /** One at a time: the last announcement names everything that is served. */
  announce(): Promise<OutputOf<'announceWorker'>> {
    const announce = async () => {
      const sentAt = systemClock.now()
      const { worker, serves } = this.#options
      const answer = await this.#reeve.announceWorker({ worker, ...serves() })
      this.#ttlMs = answer.ttlMs
      this.#certainAt ??= sentAt
      // Only a row that did not lapse in between keeps the leases.
      if (systemClock.now() - this.#certainAt <= answer.ttlMs) this.#certainAt = sentAt
      return answer
    }
    const announced = this.#last.then(announce)
    this.#last = announced.catch(() => undefined)
    return announced
  }

  /** Undefined while it is certain that all leases are held; else resolves when lost leases have been found. */
  ensureLeases(): Promise<void> | undefined {
    if (this.#options.closing.aborted) return undefined
    if (systemClock.now() - (this.#certainAt ?? 0) <= this.#ttlMs) return undefined
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined
    })
    return this.#checking
  }

  /** Renews the row until the worker closes. A missed renewal costs a lease only if another worker has claimed it since. */
  async renewEvery(ms: number): Promise<void> {
    const { closing } = this.#options
    for (;;) {
      await pause(systemClock, ms, closing)
      if (closing.aborted) return
      await this.announce().catch(ignoreTrouble)
      await this.ensureLeases()?.catch(ignoreTrouble)
    }
  }

  async #check(): Promise<void> {
    const sentAt = systemClock.now()
    try {
      await this.announce()
      await this.#options.findLost()
      this.#certainAt = sentAt
    } catch (error) {
      // The worker closes, and begins nothing more.
      if (!this.#options.closing.aborted) throw error
    }
  }
}

/** The next renewal tries again. */
export function ignoreTrouble(error: unknown): void {
  if (!(error instanceof ReeveError)) throw error
}
