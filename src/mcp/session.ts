import { randomUUID } from 'node:crypto'
import { ReeveError } from '../core/errors.ts'
import type { Actor } from '../core/process/record.ts'
import type { ReeveVerbs } from '../verbs/reeve.ts'
import { generationIn, generationOf } from './session-id.ts'
import { ShownEnds } from './shown-ends.ts'

/** Reeve as the door has it: the host's own acts, and everybody else's. */
export interface McpReeve extends ReeveVerbs {
  as(actor: Actor): ReeveVerbs
  /** Acts as somebody, and only looks. Absent where a daemon behind it sees to that. */
  observing?(actor: Actor): ReeveVerbs
}

/** A session as tools and resources have it. */
export type ClientSession = Pick<
  McpSession,
  | ('id' | 'turn' | 'endTurn' | 'previous' | 'tasks' | 'scanned' | 'shownEnds')
  | ('acting' | 'watching' | 'change' | 'touch')
>

/** Touches that come sooner after one another say nothing new. */
const TOUCH_MS = 20_000
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
  readonly #quiet: McpReeve
  readonly #base: string
  readonly #label: string
  readonly #isDerived: boolean
  #generation = 1
  #isFound = false
  #finding: Promise<void> | undefined
  #opening: Promise<void> | undefined
  /** Processes that are followed as tasks under their pids. Only what id a next one gets depends on it. */
  readonly tasks = new Set<string>()
  /** Where a wait for a line goes on that is asked for again and again: a hint, without which it begins at its beginning. */
  readonly scanned = new Map<string, number>()
  /** Of requests without a connection. */
  readonly shownEnds = new ShownEnds()
  #turn: string = randomUUID()
  #touchedAt = Number.NEGATIVE_INFINITY
  #acting: ReeveVerbs

  /** `quiet` is the way for what no client asked for: it wakes nobody. */
  constructor(
    { reeve, quiet }: { readonly reeve: McpReeve; readonly quiet: McpReeve },
    session: string,
    { label, derived }: { readonly label: string; readonly derived: boolean },
  ) {
    this.#reeve = reeve
    this.#quiet = quiet
    this.#base = session
    this.#label = label
    this.#isDerived = derived
    this.#acting = reeve.as(`session:${session}`)
  }

  get id(): string {
    return generationOf(this.#base, this.#generation)
  }

  /**
   * From one look into the inbox to the next. A client says nothing of its turns; what it has seen for itself since it last
   * looked there it need not be told when it looks again.
   */
  get turn(): string {
    return this.#turn
  }

  endTurn(): void {
    this.#turn = randomUUID()
  }

  /** The one before this, which has ended. */
  get previous(): { readonly id: string; readonly acting: ReeveVerbs } | null {
    if (this.#generation === 1) return null
    const id = generationOf(this.#base, this.#generation - 1)
    return { id, acting: this.#reeve.as(`session:${id}`) }
  }

  /** To look. */
  async acting(): Promise<ReeveVerbs> {
    await this.#find(this.#reeve)
    void this.touch()
    return this.#acting
  }

  /** To look again and again, without being asked to. */
  async watching(): Promise<ReeveVerbs> {
    await this.#find(this.#quiet)
    return this.#quiet.as(`session:${this.id}`)
  }

  /** To change something. */
  async change<Answer>(act: (acting: ReeveVerbs, session: string) => Promise<Answer>): Promise<Answer> {
    await this.#find(this.#reeve)
    try {
      await this.#openForCertain()
    } catch (error) {
      // A stop is possible without a write. Any other change meets the same, and says so.
      if (!isUnwritable(error)) throw error
    }
    return act(this.#acting, this.id)
  }

  /** Its client is there. Says nothing of a session that is not. */
  async touch(now = Date.now()): Promise<void> {
    if (now - this.#touchedAt < TOUCH_MS) return
    this.#touchedAt = now
    try {
      const acting = await this.watching()
      await acting.touchSession({ session: this.id })
    } catch (error) {
      // Not opened, ended, or out of reach for now: a touch is no promise, and there will be another one. If it has ended,
      // another connection of this client may be in the next one already.
      if (isGone(error)) this.#isFound = false
    }
  }

  /** The quiet way may take long to find nobody: whoever is asked for something does not wait for that. */
  #find(reeve: McpReeve): Promise<void> {
    if (this.#isFound) return Promise.resolve()
    if (reeve !== this.#reeve) return this.#findNewest(reeve)
    this.#finding ??= this.#findNewest(reeve).finally(() => {
      this.#finding = undefined
    })
    return this.#finding
  }

  async #findNewest(reeve: McpReeve): Promise<void> {
    if (this.#isDerived) {
      const { sessions } = await reeve.sessions({ after: this.#base, limit: PAGE })
      this.#become(Math.max(this.#generation, ...sessions.map(({ id }) => generationIn(this.#base, id))))
    }
    this.#isFound = true
  }

  /**
   * Somebody may have ended it since it was opened. To touch it tells; it is also safe to repeat, so if the daemon has gone
   * away meanwhile, that is found out here and not by a change that must not be made twice.
   */
  async #openForCertain(): Promise<void> {
    await this.#open()
    try {
      this.#touchedAt = Date.now()
      await this.#acting.touchSession({ session: this.id })
    } catch (error) {
      if (!this.#isDerived || !isGone(error)) throw error
      this.#opening = undefined
      await this.#open()
    }
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
      await this.#findNewest(this.#reeve)
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
        await this.#reeve.changeOwner({ pid: record.pid, owner: { ...record.owner, session: this.id } })
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

function isUnwritable(error: unknown): boolean {
  return error instanceof ReeveError && (error.code === 'store_full' || error.code === 'store_read_only')
}

function isGone(error: unknown): boolean {
  return error instanceof ReeveError && (error.code === 'session_ended' || error.code === 'session_unknown')
}
