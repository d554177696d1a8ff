import { withoutSettling } from '../core/approval/remembered-answer.ts'
import type { Change } from '../core/change.ts'
import { know } from '../store/contract.ts'
import type { Edges } from './edges.ts'
import { StoredAnswers } from './stored-answers.ts'

const PAGE = 200
const HOME = 'home'

export interface CoveredRequestsOptions {
  /** Answers one request by the rule that covers it, in a transaction of its own. */
  readonly answer: (id: string) => Promise<void>
  readonly isOpen: () => boolean
}

/**
 * Answers the pending requests that an answer for every time covers, in pages, in the background. The answer leaves a mark in the
 * rule set of the home, which is removed when all pages have been seen: after a crash the next sweep of any kernel begins again.
 * Without a mark no request is read.
 */
export class CoveredRequests {
  readonly #edges: Edges
  readonly #options: CoveredRequestsOptions
  #underWay: Promise<void> | undefined
  #again = false

  constructor(edges: Edges, options: CoveredRequestsOptions) {
    this.#edges = edges
    this.#options = options
  }

  /** Begins, unless it is under way; then it looks for another mark at the end. */
  begin(): void {
    this.#again = true
    this.#underWay ??= this.#answerAll()
      .catch((error: unknown) => {
        if (this.#options.isOpen())
          this.#edges.onTrouble(error, 'answering the requests that a stored answer covers')
      })
      .finally(() => {
        this.#underWay = undefined
      })
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    await this.#underWay
  }

  async #answerAll(): Promise<void> {
    while (this.#again && this.#options.isOpen()) {
      this.#again = false
      const mark = (await this.#edges.store.ask({ ask: 'ruleSet', subject: HOME }))?.settling
      if (mark === undefined) continue
      await this.#answerPages()
      if (!this.#options.isOpen()) return
      await this.#removeMark(mark)
      // Another answer may have left its own mark meanwhile.
      this.#again = true
    }
  }

  async #answerPages(): Promise<void> {
    let after: number | null = null
    do {
      after = await this.#answerPage(after)
    } while (after !== null && this.#options.isOpen())
  }

  /** Returns where the next page continues. */
  async #answerPage(after: number | null): Promise<number | null> {
    const { store } = this.#edges
    const { items, next } = await store.ask({ ask: 'approvals', state: 'pending', after, limit: PAGE })
    const answers = new StoredAnswers(this.#edges)
    for (const { id, request } of items) {
      if (!this.#options.isOpen()) return null
      if (request.type === 'permission' && (await answers.cover(request))) await this.#options.answer(id)
    }
    return next
  }

  #removeMark(mark: string): Promise<void> {
    return this.#edges.store.write<void>(function* () {
      const was = yield* know({ ask: 'ruleSet', subject: HOME })
      if (was?.settling !== mark) return { answer: undefined, changes: [] }
      const ruleSet = withoutSettling(was)
      const change: Change =
        ruleSet === null ? { type: 'rule_set_gone', subject: HOME } : { type: 'rule_set', was, ruleSet }
      return { answer: undefined, changes: [change] }
    })
  }
}
