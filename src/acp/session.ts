import type { ContentBlock, SessionUpdate, StopReason } from '@agentclientprotocol/sdk'
import { RequestError } from '@agentclientprotocol/sdk'
import type { AgentFollowed } from '../verbs/follow-calls.ts'
import type { OutputOf, ReeveVerbs } from '../verbs/reeve.ts'
import { COMPACT } from './commands.ts'
import { OpenPrompt, type TurnEnd } from './open-prompt.ts'
import { promptParts } from './prompt-parts.ts'
import { isReeveCode, requestError } from './request-errors.ts'
import { SessionUpdates } from './session-updates.ts'

type Page = OutputOf<'agentLog'>

export interface SessionParts {
  readonly reeve: ReeveVerbs
  readonly agent: OutputOf<'inspectAgent'>
  readonly showsNotices: boolean
  /** Resolves when the update is on its way: a slow editor slows down the reading of the log. */
  readonly send: (update: SessionUpdate) => Promise<void>
}

/** Items of one page of the past. */
const PAGE_ITEMS = 500
/** Items of the past that an editor is shown. */
const MAX_REPLAYED_ITEMS = 10_000

/**
 * An agent that an editor has open. One loop follows the session log, sends updates, and settles the prompt, so an answer never
 * overtakes the updates of its turn. The log is read by `seq`: after a restart of the daemon it goes on behind the last item.
 */
export class AcpSession {
  readonly pid: string
  readonly #parts: SessionParts
  readonly #updates: SessionUpdates
  readonly #closed = new AbortController()
  #contextWindow: number | null
  #seq = 0
  #offset = 0
  #isFollowing = false
  #prompt: OpenPrompt | null = null
  #lastEnd: TurnEnd | null = null
  #wasUsed: boolean
  /** The revision of the agent up to which updates were sent. */
  #revision = 0
  #waiting: { readonly revision: number; readonly resolve: () => void }[] = []

  constructor(parts: SessionParts) {
    const { agent, showsNotices } = parts
    this.pid = agent.pid
    this.#parts = parts
    this.#contextWindow = agent.contextWindow
    this.#wasUsed = agent.turns > 0
    this.#updates = new SessionUpdates({
      pid: agent.pid,
      workspace: agent.workspace,
      contextWindow: () => this.#contextWindow,
      showsNotices,
    })
  }

  get workspace(): string | null {
    return this.#parts.agent.workspace
  }

  get signal(): AbortSignal {
    return this.#closed.signal
  }

  get isBusy(): boolean {
    return this.#prompt !== null
  }

  /** Whether the agent was ever asked for something. */
  get wasUsed(): boolean {
    return this.#wasUsed
  }

  get updates(): SessionUpdates {
    return this.#updates
  }

  send(update: SessionUpdate): Promise<void> {
    return this.#parts.send(update)
  }

  /** Follows the session from its end. Resolves with its last page. */
  async resume(): Promise<Page> {
    const page = await this.#parts.reeve.agentLog({ pid: this.pid, last: 1 })
    this.#followFrom(page)
    return page
  }

  /** Sends the past of the session, the oldest first, then follows it. */
  async replay(): Promise<void> {
    const { reeve } = this.#parts
    const last = await reeve.agentLog({ pid: this.pid, last: PAGE_ITEMS, blobs: true })
    const pages = [last]
    let count = last.items.length
    for (let page: Page = last; page.before !== null && count < MAX_REPLAYED_ITEMS; ) {
      page = await reeve.agentLog({ pid: this.pid, last: PAGE_ITEMS, blobs: true, before: page.before })
      pages.push(page)
      count += page.items.length
    }
    if (pages.at(-1)?.before !== null)
      await this.send(
        this.#updates.notice('info', `Earlier parts are left out: reeve agent export ${this.pid}`),
      )
    for (const { items } of pages.toReversed())
      for (const item of items) {
        for (const update of this.#updates.item(item, true)) await this.send(update)
        if (item.type === 'turn_ended') this.#lastEnd = item.payload
      }
    this.#followFrom(last)
  }

  /** Gives the agent an input. Resolves when its turn has ended, after all updates of the turn. */
  async prompt(blocks: readonly ContentBlock[]): Promise<StopReason> {
    if (this.#prompt !== null)
      throw RequestError.invalidRequest(
        { sessionId: this.pid },
        'The last prompt of this session is not answered yet',
      )
    const parts = promptParts(blocks, this.workspace)
    const prompt = new OpenPrompt()
    this.#prompt = prompt
    this.#wasUsed = true
    this.#updates.sent(prompt.id)
    try {
      this.#follow()
      const [first, ...others] = parts
      const isCompact = others.length === 0 && first?.type === 'text' && first.text.trim() === COMPACT
      if (isCompact) await this.#compact(prompt)
      else await this.#run(prompt, parts)
      return await prompt.answer
    } catch (error) {
      prompt.fail(error)
      throw error
    } finally {
      this.#prompt = null
    }
  }

  /** Ends the turn of the prompt, or removes the prompt if no turn has taken it. The prompt is answered by what follows. */
  async cancel(): Promise<void> {
    const { reeve } = this.#parts
    const prompt = this.#prompt
    await prompt?.given
    if (prompt?.isSettled === true) return
    if (prompt !== null && prompt.turn === null) {
      try {
        await reeve.removeInput({ pid: this.pid, input: prompt.id })
        prompt.settle('cancelled')
        return
      } catch (error) {
        // A turn has taken it meanwhile.
        if (!isReeveCode(error, 'not_found')) throw error
      }
    }
    try {
      await reeve.cancelTurn({ pid: this.pid })
    } catch (error) {
      if (!isReeveCode(error, 'not_running', 'already_ended', 'stopping')) throw error
    }
  }

  /** Resolves when everything that the log has now was sent to the editor; also when the session is closed. */
  async caughtUp(): Promise<void> {
    const { record } = await this.#parts.reeve.agentLog({ pid: this.pid, last: 1 })
    const { revision } = record
    if (this.#revision >= revision || this.signal.aborted) return
    await new Promise<void>((resolve) => this.#waiting.push({ revision, resolve }))
  }

  /** The context window may be another one with another model. */
  async modelChanged(): Promise<void> {
    const { contextWindow } = await this.#parts.reeve.inspectAgent({ pid: this.pid })
    this.#contextWindow = contextWindow
  }

  /** Stops following. The agent goes on. */
  close(): void {
    this.#closed.abort()
    this.#prompt?.settle('cancelled')
    this.#caughtUpTo(Number.POSITIVE_INFINITY)
  }

  #caughtUpTo(revision: number): void {
    this.#revision = revision
    const waiting = this.#waiting
    this.#waiting = waiting.filter((one) => one.revision > revision)
    for (const one of waiting) if (one.revision <= revision) one.resolve()
  }

  async #run(prompt: OpenPrompt, parts: ReturnType<typeof promptParts>): Promise<void> {
    const { reeve } = this.#parts
    // A paused agent would leave a queued input waiting: the prompt ends the pause.
    const { phase } = await reeve.agentLog({ pid: this.pid, last: 1 })
    const mode = phase === 'paused' ? 'run' : 'queue'
    const answer = await reeve.runAgent({ pid: this.pid, id: prompt.id, parts, mode })
    if (answer.type === 'started') prompt.startedIn(answer.turn)
    else {
      const { record } = await reeve.agentLog({ pid: this.pid, last: 1 })
      prompt.waitsSince(record.revision)
    }
    await this.#settleIfEnded(prompt)
  }

  async #compact(prompt: OpenPrompt): Promise<void> {
    const { turn } = await this.#parts.reeve.compactAgent({ pid: this.pid, id: prompt.id })
    prompt.startedIn(turn)
    await this.#settleIfEnded(prompt)
  }

  /** The turn may have ended before its number was known here. */
  async #settleIfEnded(prompt: OpenPrompt): Promise<void> {
    const { turn } = prompt
    if (turn === null || prompt.isSettled || this.#lastEnd === null || turn > this.#lastEnd.turn) return
    if (turn === this.#lastEnd.turn) {
      prompt.ended(this.#lastEnd)
      return
    }
    const waited = await this.#parts.reeve.waitAgent({ pid: this.pid, turn })
    if (waited.type === 'turn_ended') prompt.ended(waited.turn)
  }

  #followFrom({ after }: Page): void {
    this.#seq = after
    this.#follow()
  }

  /** Follows the session, unless that is under way. It ends when the daemon was stopped by its user; the next prompt begins it again. */
  #follow(): void {
    if (this.#isFollowing || this.signal.aborted) return
    this.#isFollowing = true
    void this.#followed().then(
      () => {
        this.#isFollowing = false
        this.#prompt?.fail(
          new RequestError(INTERNAL, 'The agent has ended. Begin another session.', {
            code: 'already_ended',
          }),
        )
      },
      (error: unknown) => {
        this.#isFollowing = false
        this.#prompt?.fail(requestError(error))
      },
    )
  }

  async #followed(): Promise<void> {
    const { reeve } = this.#parts
    const place = { pid: this.pid, from: this.#seq, offset: this.#offset, blobs: true }
    for await (const followed of reeve.followAgent(place, { signal: this.signal })) {
      for (const update of this.#updates.of(followed)) await this.send(update)
      if (followed.type === 'item') this.#noteItem(followed.item)
      if (followed.type === 'fragment') this.#offset = followed.next
      if (followed.type !== 'state') continue
      this.#caughtUpTo(followed.record.revision)
      if (this.#prompt?.pausedIn(followed) === true) await this.#paused()
    }
  }

  #noteItem(item: Extract<AgentFollowed, { type: 'item' }>['item']): void {
    this.#seq = item.seq
    if (item.type === 'turn_ended') this.#lastEnd = item.payload
    this.#prompt?.heard(item)
  }

  async #paused(): Promise<void> {
    const how = `It is paused: reeve agent resume ${this.pid} goes on, and your next message begins another turn.`
    await this.send(this.#updates.notice('warning', how))
    this.#prompt?.settle('end_turn')
  }
}

const INTERNAL = -32603
