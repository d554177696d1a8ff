import { ReeveError } from '../../core/errors.ts'
import type { CallOptions, OutputOf } from '../../verbs/reeve.ts'
import { howToAnswer } from '../pending-approvals.ts'

type Approval = OutputOf<'inspectAgent'>['approvals'][number]

/** As much of Reeve as this needs. */
export interface AskedVerbs {
  inspectAgent(
    input: { readonly pid: string },
    options?: CallOptions,
  ): Promise<{ readonly approvals: readonly Approval[] }>
  follow(
    input: { readonly after: number; readonly filter: { readonly root: string; readonly status: 'any' } },
    options?: CallOptions,
  ): AsyncIterable<{ readonly type: string }>
}

/** Says when something of an agent waits for the answer of a person. */
export class AskedPeople {
  readonly #reeve: AskedVerbs
  readonly #agent: { readonly pid: string; readonly root: string }
  readonly #say: (text: string) => void
  readonly #told = new Set<string>()
  readonly #closed = new AbortController()

  constructor(
    reeve: AskedVerbs,
    agent: { readonly pid: string; readonly root: string },
    say: (text: string) => void,
  ) {
    this.#reeve = reeve
    this.#agent = agent
    this.#say = say
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
      for await (const { type } of this.#reeve.follow({ after, filter }, { signal }))
        if (type === 'approval_requested') await this.#look()
    } catch (error) {
      const prunedThrough = error instanceof ReeveError ? error.details['prunedThrough'] : undefined
      if (typeof prunedThrough === 'number') return prunedThrough
      if (!signal.aborted)
        this.#say(
          `(new requests are not shown here any more; reeve approvals lists them: ${errorText(error)})`,
        )
    }
    return null
  }

  async #look(): Promise<void> {
    const { signal } = this.#closed
    try {
      const { approvals } = await this.#reeve.inspectAgent({ pid: this.#agent.pid }, { signal })
      for (const approval of approvals.filter(({ id }) => !this.#told.has(id))) {
        this.#told.add(approval.id)
        this.#say(`? ${requestText(approval)}`)
        this.#say(`  answer in another terminal: ${howToAnswer(approval)}`)
      }
    } catch (error) {
      if (!signal.aborted) this.#say(`(it is unknown what waits for your answer: ${errorText(error)})`)
    }
  }
}

/** What a person is asked, in a line. */
function requestText({ request }: Approval): string {
  if (request.type === 'question')
    return request.choices === null ? request.text : `${request.text} (${request.choices.join(', ')})`
  const { needs, justification } = request
  return `it wants to ${needs.join('; ')}${justification === null ? '' : ` (${justification})`}`
}

export function errorText(error: unknown): string {
  return error instanceof ReeveError ? `${error.message} ${error.remedy}` : String(error)
}
