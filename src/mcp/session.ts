import { randomUUID } from 'node:crypto'
import { BoundedMap } from '../base/bounded-map.ts'
import type { Seat } from '../core/authority/person.ts'
import { ReeveError } from '../core/errors.ts'
import type { Actor } from '../core/process/record.ts'
import type { ReeveVerbs } from '../verbs/reeve.ts'
import { type Feed, feedOf } from './feed-watch.ts'
import { generationIn, generationOf } from './session-id.ts'
import { ShownEnds } from './shown-ends.ts'

/** Reeve as the MCP server sees it: verbs as the host, and as any other actor. */
export interface McpReeve extends ReeveVerbs {
  as(actor: Actor): ReeveVerbs
  /** Acts for a person behind a client. Absent where a daemon behind it enforces that. */
  calledFrom?(seat: Seat, actor: Actor): ReeveVerbs
  /** Reads as an actor, without effects. Absent where a daemon behind it enforces that. */
  observing?(actor: Actor): ReeveVerbs
  /** The position of the change feed; absent where answers have it. */
  position?(): number
}

/** The part of a session that tools and resources use. */
export type ClientSession = Pick<
  McpSession,
  | ('id' | 'turn' | 'endTurn' | 'previous' | 'tasks' | 'scanned' | 'shownEnds' | 'dismissed')
  | ('acting' | 'watching' | 'feed' | 'change' | 'touch')
>

/** The least time between two touches. */
const TOUCH_MS = 20_000
const PAGE = 1_000
const MAX_DISMISSED = 1_000

/**
 * The session that a client acts in. The first change opens it; reads leave no trace.
 *
 * | session   | a read                      | a change                                              |
 * | none      | finds nothing               | opens the session                                     |
 * | open      | acts as it                  | acts as it                                            |
 * | ended     | acts as it, with its inbox  | opens the next one and takes over detached processes  |
 *
 * A session that a token names has no next one: once it has ended, changes are refused.
 */
export class McpSession {
  readonly #reeve: McpReeve
  readonly #quiet: McpReeve
  readonly #base: string
  readonly #label: string
  readonly #isDerived: boolean
  readonly #folder: string | null
  readonly #preset: string | undefined
  #generation = 1
  #isFound = false
  #finding: Promise<void> | undefined
  #opening: Promise<void> | undefined
  /** Pids that are in use as task ids. It only affects the id of the next task. */
  readonly tasks = new Set<string>()
  /** Where a repeated search for a line goes on: a hint, without which it starts from the beginning. */
  readonly scanned = new Map<string, number>()
  /** Approvals whose form the person at the client closed without an answer. They are not asked about there again. */
  readonly dismissed = new BoundedMap<string, true>(MAX_DISMISSED)
  /** For requests without a connection. */
  readonly shownEnds = new ShownEnds()
  #turn: string = randomUUID()
  #touchedAt = Number.NEGATIVE_INFINITY
  #acting: ReeveVerbs

  /** `quiet` is the connection for background work: it never starts a daemon. */
  constructor(
    { reeve, quiet }: { readonly reeve: McpReeve; readonly quiet: McpReeve },
    session: string,
    {
      label,
      derived,
      folder = null,
      preset,
    }: {
      readonly label: string
      readonly derived: boolean
      readonly folder?: string | null
      readonly preset?: string
    },
  ) {
    this.#reeve = reeve
    this.#quiet = quiet
    this.#base = session
    this.#label = label
    this.#isDerived = derived
    this.#folder = folder?.startsWith('/') === true ? folder : null
    this.#preset = preset
    this.#acting = reeve.as(`session:${session}`)
  }

  get id(): string {
    return generationOf(this.#base, this.#generation)
  }

  /**
   * The time from one reading of the inbox to the next. Clients do not announce their turns. The inbox leaves out what the
   * client has seen by itself since it last read the inbox.
   */
  get turn(): string {
    return this.#turn
  }

  endTurn(): void {
    this.#turn = randomUUID()
  }

  /** The previous generation, which has ended. */
  get previous(): { readonly id: string; readonly acting: ReeveVerbs } | null {
    if (this.#generation === 1) return null
    const id = generationOf(this.#base, this.#generation - 1)
    return { id, acting: this.#reeve.as(`session:${id}`) }
  }

  /** For reads. */
  async acting(): Promise<ReeveVerbs> {
    await this.#find(this.#reeve)
    void this.touch()
    return this.#acting
  }

  /** For background polling. */
  async watching(): Promise<ReeveVerbs> {
    await this.#find(this.#quiet)
    return this.#quiet.as(`session:${this.id}`)
  }

  /** For following changes in the background. */
  async feed(): Promise<Feed> {
    return feedOf(this.#quiet, await this.watching())
  }

  /** For changes. */
  async change<Answer>(act: (acting: ReeveVerbs, session: string) => Promise<Answer>): Promise<Answer> {
    await this.#find(this.#reeve)
    try {
      await this.#ensureOpen()
    } catch (error) {
      // A stop works without a write to the store. Any other change meets the same error and reports it.
      if (!isUnwritable(error)) throw error
    }
    return act(this.#acting, this.id)
  }

  /** Records that the client is connected. It opens no session. */
  async touch(now = Date.now()): Promise<void> {
    if (now - this.#touchedAt < TOUCH_MS) return
    this.#touchedAt = now
    try {
      const acting = await this.watching()
      await acting.touchSession({ session: this.id })
    } catch (error) {
      // Not opened, ended, or unreachable: a lost touch does no harm, the next one follows. If the session has ended, another
      // connection of this client may have opened the next one already.
      if (isGone(error)) this.#isFound = false
    }
  }

  /** The quiet connection may take long to fail. A request of the client does not wait for that. */
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
   * The session may have been ended since it was opened. A touch finds that out. A touch is also safe to repeat: a daemon that
   * went away is noticed here, and not by a change that must not be made twice.
   */
  async #ensureOpen(): Promise<void> {
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
      await this.#openCurrent()
    } catch (error) {
      if (!this.#isDerived || !isGone(error)) throw error
      const ended = this.id
      await this.#findNewest(this.#reeve)
      if (this.id === ended) this.#become(this.#generation + 1)
      await this.#openCurrent()
      await this.#takeOver(ended)
    }
  }

  async #openCurrent(): Promise<void> {
    const workspace = this.#folder === null ? {} : { workspace: this.#folder }
    const preset = this.#preset === undefined ? {} : { preset: this.#preset }
    await this.#acting.openSession({ session: this.id, label: this.#label, ...workspace, ...preset })
  }

  /** Detached processes outlive their session. The next session becomes their owner. */
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
