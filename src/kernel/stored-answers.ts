import type { PermissionRequest } from '../core/approval/approval.ts'
import { answeringSubjects, coveringRule } from '../core/approval/remembered-answer.ts'
import type { RuleSet } from '../core/capability/rule-set.ts'
import type { Edges } from './edges.ts'

/** The answers for every time that people have stored. Each rule set is read once, for a page of requests. */
export class StoredAnswers {
  readonly #edges: Edges
  readonly #sets = new Map<string, RuleSet | null>()

  constructor(edges: Edges) {
    this.#edges = edges
  }

  /** Whether one of them seems to answer the request. The transaction that settles it decides. */
  async cover(request: PermissionRequest): Promise<boolean> {
    for (const subject of answeringSubjects(request)) {
      const set = await this.#read(subject)
      if (set !== null && coveringRule(request, set, this.#edges.clock.now()) !== undefined) return true
    }
    return false
  }

  async #read(subject: string): Promise<RuleSet | null> {
    const known = this.#sets.get(subject)
    if (known !== undefined) return known
    const set = await this.#edges.store.ask({ ask: 'ruleSet', subject })
    this.#sets.set(subject, set)
    return set
  }
}
