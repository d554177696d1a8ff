import { ExponentialBackoff } from '../base/exponential-backoff.ts'
import type { AskName, Asks, Tell } from '../keeper/protocol/messages.ts'
import { type KeeperLink, LinkLost } from './keeper-link.ts'
import type { Reached } from './reach-keeper.ts'

export interface Listening {
  readonly onTell: (tell: Tell) => void
  readonly onLost: () => void
}

export interface ConnectionOptions {
  /** Connects to the running keeper, or to a new one. Undefined: there is none, and none is started. */
  readonly reach: (listening: Listening) => Promise<Reached | undefined>
  /** Runs before the first request. If it rejects, the connection is made again. */
  readonly settle: (reached: Reached) => Promise<void>
  /** The keeper accepts requests from now on; its events are passed on after this call. */
  readonly up: (reached: Reached) => void
  readonly heard: (tell: Tell) => void
  readonly down: () => void
  /** The keeper is gone for good. */
  readonly gone: () => Promise<void>
  readonly onTrouble: (error: unknown, doing: string) => void
}

const RETRY_MS = 100
const RETRY_MAX_MS = 5_000
const LEAVE_MS = 2_000

/** One link, from the hello to its end. Events that come before `settle` is done are passed on afterwards. */
interface Life {
  readonly link: KeeperLink
  readonly reached: Reached
  readonly early: Tell[]
  isLost: boolean
}

/**
 * The connection to a keeper. It outlives links and keepers: a lost one is replaced.
 *
 * | state    | ask               | untilUp       | the link ends | close                                       |
 * | up       | asked             | at once       | → reaching    | takes leave, → closed                       |
 * | reaching | `LinkLost`        | when it is up | once more     | waits for it, which then takes leave → closed |
 * | closed   | `LinkLost`        | never         | –             | –                                           |
 */
export class KeeperConnection {
  readonly #options: ConnectionOptions
  #life: Life | undefined
  #reaching: Promise<void> | undefined
  #whenUp: (() => void)[] = []
  readonly #closed = Promise.withResolvers<void>()
  #isClosed = false

  constructor(options: ConnectionOptions) {
    this.#options = options
  }

  get isUp(): boolean {
    return this.#life !== undefined
  }

  /** False if there is no such keeper. */
  async open(): Promise<boolean> {
    const life = await this.#meet()
    if (life === undefined) return false
    if (!(await this.#settledIn(life))) this.#reachAgain()
    return true
  }

  /** Asks the keeper now. Rejects with `LinkLost` while it is not connected. */
  ask<Name extends AskName>(name: Name, asked: Asks[Name][0]): Promise<Asks[Name][1]> {
    return this.#life?.link.ask(name, asked) ?? Promise.reject(new LinkLost())
  }

  untilUp(): Promise<void> {
    if (this.#life !== undefined) return Promise.resolve()
    return new Promise((resolve) => {
      this.#whenUp.push(resolve)
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#closed.resolve()
    const life = this.#life
    this.#life = undefined
    if (life !== undefined) await takeLeave(life.link)
    await this.#reaching
  }

  async #meet(): Promise<Life | undefined> {
    const early: Tell[] = []
    let life: Life | undefined
    const reached = await this.#options.reach({
      onTell: (tell) => {
        if (life === undefined || this.#life !== life) early.push(tell)
        else this.#options.heard(tell)
      },
      onLost: () => {
        if (life === undefined) return
        life.isLost = true
        if (this.#life === life) this.#down()
      },
    })
    if (reached === undefined) return undefined
    life = { link: reached.link, reached, early, isLost: false }
    return life
  }

  /** False if the link ended in the meantime. */
  async #settledIn(life: Life): Promise<boolean> {
    try {
      await this.#options.settle(life.reached)
    } catch (error) {
      life.link.close()
      throw error
    }
    if (this.#isClosed) {
      await takeLeave(life.link)
      return true
    }
    if (life.isLost) return false
    this.#life = life
    this.#options.up(life.reached)
    for (const tell of life.early.splice(0)) this.#options.heard(tell)
    for (const up of this.#whenUp.splice(0)) up()
    return true
  }

  #down(): void {
    this.#life = undefined
    this.#options.down()
    if (!this.#isClosed) this.#reachAgain()
  }

  #reachAgain(): void {
    this.#reaching = this.#tryUntilUp()
  }

  async #tryUntilUp(): Promise<void> {
    const backoff = new ExponentialBackoff(RETRY_MS, RETRY_MAX_MS)
    while (!this.#isClosed) {
      try {
        const life = await this.#meet()
        if (life === undefined) return await this.#options.gone()
        if (await this.#settledIn(life)) return
      } catch (error) {
        if (this.#isClosed) return
        this.#options.onTrouble(error, 'reaching the keeper')
      }
      await this.#after(backoff.nextMs())
    }
  }

  /** Waits, but not beyond `close`. */
  async #after(ms: number): Promise<void> {
    const later = Promise.withResolvers<void>()
    const timer = setTimeout(later.resolve, ms)
    await Promise.race([later.promise, this.#closed.promise])
    clearTimeout(timer)
  }
}

/** A keeper without programs exits then. One that does not answer notices the end of the connection. */
async function takeLeave(link: KeeperLink): Promise<void> {
  const timer = setTimeout(() => link.close(), LEAVE_MS)
  try {
    await link.ask('leave', {})
  } catch (error) {
    if (!(error instanceof LinkLost)) throw error
  } finally {
    clearTimeout(timer)
    link.close()
  }
}
