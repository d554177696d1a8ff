import { ExponentialBackoff } from '../base/exponential-backoff.ts'
import type { AskName, Asks, Tell } from '../keeper/protocol/messages.ts'
import { type KeeperLink, LinkLost } from './keeper-link.ts'
import type { Reached } from './reach-keeper.ts'

export interface Listening {
  readonly onTell: (tell: Tell) => void
  readonly onLost: () => void
}

export interface ConnectionOptions {
  /** The keeper that is there now, or a new one. Undefined: there is none, and none is started. */
  readonly reach: (listening: Listening) => Promise<Reached | undefined>
  /** What must be so before anything is asked of it. If it rejects, the keeper is reached once more. */
  readonly settle: (reached: Reached) => Promise<void>
  /** It may be asked from now on; what it tells comes after this. */
  readonly up: (reached: Reached) => void
  readonly heard: (tell: Tell) => void
  readonly down: () => void
  /** There is no keeper any more, and there will be none. */
  readonly gone: () => Promise<void>
  readonly onTrouble: (error: unknown, doing: string) => void
}

const RETRY_MS = 100
const RETRY_MAX_MS = 5_000
const LEAVE_MS = 2_000

/** One link, from the hello to its end. What is told before its keeper is settled in is heard afterwards. */
interface Life {
  readonly link: KeeperLink
  readonly reached: Reached
  readonly early: Tell[]
  isLost: boolean
}

/**
 * The connection to a keeper, over the deaths of links and keepers.
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

  /** One question, now. Rejects with `LinkLost` when the keeper is not there. */
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

  /** False if the link ended meanwhile. */
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

  /** Sooner, when it is closed. */
  async #after(ms: number): Promise<void> {
    const later = Promise.withResolvers<void>()
    const timer = setTimeout(later.resolve, ms)
    await Promise.race([later.promise, this.#closed.promise])
    clearTimeout(timer)
  }
}

/** A keeper with nothing to keep goes too. One that does not answer sees that the connection has ended. */
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
