import { ReeveError } from '../../core/errors.ts'
import type { CallOptions, OutputOf } from '../../verbs/reeve.ts'
import { howToAnswer, isAskedOf } from '../pending-approvals.ts'

export type Approval = OutputOf<'inspectAgent'>['approvals'][number]

/** As much of Reeve as this needs. */
export interface AskedVerbs {
  inspectAgent(
    input: { readonly pid: string },
    options?: CallOptions,
  ): Promise<{ readonly approvals: readonly Approval[] }>
  follow(
    input: { readonly after: number; readonly filter: { readonly root: string; readonly status: 'any' } },
    options?: CallOptions,
  ): AsyncIterable<{ readonly type: string; readonly pid: string }>
}

export interface AskedOptions {
  readonly say: (text: string) => void
  /** The person at this terminal may answer here: called whenever other requests wait than before. */
  readonly changed?: () => void
  /** The person who is asked here, as `human:<name>`; null if that is unknown. */
  readonly person?: string | null
}

/** Says when something of an agent waits for the answer of a person, and knows what waits. */
export class AskedPeople {
  readonly #reeve: AskedVerbs
  readonly #agent: { readonly pid: string; readonly root: string }
  readonly #options: AskedOptions
  readonly #told = new Set<string>()
  /** Answered here: an older list may still have them. */
  readonly #answered = new Set<string>()
  readonly #closed = new AbortController()
  #waiting: readonly Approval[] = []
  #checks = 0

  constructor(
    reeve: AskedVerbs,
    agent: { readonly pid: string; readonly root: string },
    options: AskedOptions,
  ) {
    this.#reeve = reeve
    this.#agent = agent
    this.#options = options
  }

  /** What waits for the person at this terminal, the oldest first. */
  get waiting(): readonly Approval[] {
    return this.#waiting
  }

  /** What waits is being asked again: what was known may have been withdrawn. */
  get isChecking(): boolean {
    return this.#checks > 0
  }

  /** Asks again what waits: the end of a turn or a tool call withdraws what it has asked. */
  async check(): Promise<void> {
    this.#checks += 1
    await this.#look(() => {
      this.#checks -= 1
    })
  }

  /** It is answered here, also if an older list names it. */
  answered(id: string): void {
    this.#answered.add(id)
    this.#waiting = this.#waiting.filter((approval) => approval.id !== id)
  }

  /** Says what waits now, and what is asked after this position of the change feed. Resolves when it is closed or cannot go on. */
  async follow(position: number): Promise<void> {
    const { signal } = this.#closed
    for (let after: number | null = position; after !== null && !signal.aborted; ) {
      await this.#look()
      after = await this.#followFrom(after)
    }
  }

  close(): void {
    this.#closed.abort()
  }

  /** Returns the position to go on from after a gap; null if it is over. */
  async #followFrom(after: number): Promise<number | null> {
    const { signal } = this.#closed
    const filter = { root: this.#agent.root, status: 'any' } as const
    try {
      for await (const { type, pid } of this.#reeve.follow({ after, filter }, { signal }))
        if (type === 'approval_requested' || this.#isSettledBy(type, pid)) await this.#look()
    } catch (error) {
      const prunedThrough = error instanceof ReeveError ? error.details['prunedThrough'] : undefined
      if (typeof prunedThrough === 'number') return prunedThrough
      if (!signal.aborted)
        this.#options.say(
          `(new requests are not shown here any more; reeve approvals lists them: ${errorText(error)})`,
        )
    }
    return null
  }

  /** The end of a process withdraws its request. */
  #isSettledBy(type: string, pid: string): boolean {
    if (type !== 'approval_settled' && type !== 'ended') return false
    return this.#waiting.some((approval) => approval.pid === pid)
  }

  #inspect(signal: AbortSignal): ReturnType<AskedVerbs['inspectAgent']> {
    return this.#reeve.inspectAgent({ pid: this.#agent.pid }, { signal })
  }

  async #look(looked: () => void = () => undefined): Promise<void> {
    const { signal } = this.#closed
    const { say, changed, person = null } = this.#options
    try {
      const { approvals } = await this.#inspect(signal).finally(looked)
      const pending = approvals.filter(({ id }) => !this.#answered.has(id))
      const gone = this.#waiting.filter(({ id }) => !pending.some((approval) => approval.id === id))
      const isHere = (approval: Approval) => changed !== undefined && isAskedOf(approval, person)
      this.#waiting = pending.filter(isHere).toSorted((one, other) => one.askedAt - other.askedAt)
      for (const { id } of gone) say(`(${id} does not wait any more: reeve approvals ${id})`)
      for (const approval of pending.filter(({ id }) => !this.#told.has(id))) {
        this.#told.add(approval.id)
        for (const line of requestLines(approval)) say(line)
        if (!isHere(approval)) say(`  answer in another terminal: ${howToAnswer(approval)}`)
      }
      changed?.()
    } catch (error) {
      if (signal.aborted) return
      say(`(it is unknown what waits for your answer: ${errorText(error)})`)
      changed?.()
    }
  }
}

/** What a person is asked. Choices have numbers. */
function requestLines({ request }: Approval): readonly string[] {
  if (request.type === 'question')
    return [
      `? ${indented(request.text)}`,
      ...(request.choices ?? []).map((choice, at) => `  ${at + 1}  ${choice}`),
    ]
  const { needs, justification, doubt, reason, defaultToNo } = request
  const why = [reason, justification].filter((text) => text !== null && text !== '')
  return [
    `? it wants to ${indented(needs.join('; '))}${why.length === 0 ? '' : ` (${why.join('; ')})`}`,
    ...(doubt === undefined ? [] : [`  the rule may apply: ${doubt}`]),
    ...(defaultToNo ? ['  it cannot be undone'] : []),
  ]
}

/** A line of an untrusted text must not look like one of ours. */
function indented(text: string): string {
  return text.trim().replaceAll('\n', '\n  ')
}

export function errorText(error: unknown): string {
  return error instanceof ReeveError ? `${error.message} ${error.remedy}` : String(error)
}
