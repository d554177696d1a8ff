import { ReeveError } from '../core/errors.ts'
import type { Actor } from '../core/process/record.ts'
import type { Acting } from '../verbs/reeve.ts'
import { generationIn, generationOf } from './session-id.ts'

/** Reeve as the door has it: the host's own acts, and everybody else's. */
export interface McpReeve extends Acting {
  as(actor: Actor): Acting
}

const TOUCH_MS = 60_000
const PAGE = 1_000

/**
 * The session that a client acts in. Whoever only looks leaves nothing behind: it is opened by the first change.
 *
 * | its session   | a look                     | a change                                           |
 * | not there     | finds nothing              | opens it                                           |
 * | open          | as it                      | as it                                              |
 * | ended         | as it: what it was told    | opens the next one, and takes over what outlived it |
 *
 * A session that a token names is that one and no other: when it has ended, changes are refused.
 */
export class McpSession {
  readonly #reeve: McpReeve
  readonly #base: string
  readonly #label: string
  readonly #isDerived: boolean
  #generation = 1
  #found: Promise<void> | undefined
  #opening: Promise<void> | undefined
  #touchedAt = Number.NEGATIVE_INFINITY
  #acting: Acting

  constructor(reeve: McpReeve, session: string, { label, derived }: { label: string; derived: boolean }) {
    this.#reeve = reeve
    this.#base = session
    this.#label = label
    this.#isDerived = derived
    this.#acting = reeve.as(`session:${session}`)
  }

  get id(): string {
    return generationOf(this.#base, this.#generation)
  }

  /** The one before this, which has ended. */
  get previous(): { readonly id: string; readonly acting: Acting } | null {
    if (this.#generation === 1) return null
    const id = generationOf(this.#base, this.#generation - 1)
    return { id, acting: this.#reeve.as(`session:${id}`) }
  }

  /** To look. */
  async acting(): Promise<Acting> {
    await this.#find()
    void this.touch()
    return this.#acting
  }

  /** To change something. */
  async change<Answer>(act: (acting: Acting, session: string) => Promise<Answer>): Promise<Answer> {
    await this.#find()
    await this.#open()
    void this.touch()
    try {
      return await act(this.#acting, this.id)
    } catch (error) {
      if (!this.#isDerived || !isGone(error)) throw error
      // Somebody ended it meanwhile.
      this.#opening = undefined
      await this.#open()
      return await act(this.#acting, this.id)
    }
  }

  /** Its client is there. Says nothing of a session that is not. */
  async touch(now = Date.now()): Promise<void> {
    if (now - this.#touchedAt < TOUCH_MS) return
    this.#touchedAt = now
    try {
      await this.#find()
      await this.#acting.touchSession({ session: this.id })
    } catch {
      // Not opened, ended, or out of reach for now: a touch is no promise, and there will be another one.
    }
  }

  #find(): Promise<void> {
    this.#found ??= this.#findNewest().catch((error: unknown) => {
      this.#found = undefined
      throw error
    })
    return this.#found
  }

  async #findNewest(): Promise<void> {
    if (!this.#isDerived) return
    const { sessions } = await this.#reeve.sessions({ after: this.#base, limit: PAGE })
    const newest = Math.max(1, ...sessions.map(({ id }) => generationIn(this.#base, id)))
    this.#become(newest)
  }

  #open(): Promise<void> {
    this.#opening ??= this.#openNewest().catch((error: unknown) => {
      this.#opening = undefined
      throw error
    })
    return this.#opening
  }

  async #openNewest(): Promise<void> {
    try {
      await this.#acting.openSession({ session: this.id, label: this.#label })
    } catch (error) {
      if (!this.#isDerived || !isGone(error)) throw error
      const ended = this.id
      await this.#findNewest()
      if (this.id === ended) this.#become(this.#generation + 1)
      await this.#acting.openSession({ session: this.id, label: this.#label })
      await this.#takeOver(ended)
    }
  }

  /** What is detached outlives its session, and is found again in the next one. */
  async #takeOver(ended: string): Promise<void> {
    const { processes } = await this.#reeve.list({ filter: { owner: { session: ended } }, limit: PAGE })
    for (const { record } of processes) {
      if (record.lifetime !== 'detached') continue
      try {
        await this.#reeve.reown({ pid: record.pid, owner: { ...record.owner, session: this.id } })
      } catch (error) {
        if (!(error instanceof ReeveError) || error.code !== 'already_ended') throw error
      }
    }
  }

  #become(generation: number): void {
    this.#generation = generation
    this.#acting = this.#reeve.as(`session:${this.id}`)
  }
}

function isGone(error: unknown): boolean {
  return error instanceof ReeveError && (error.code === 'session_ended' || error.code === 'session_unknown')
}
