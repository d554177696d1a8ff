import type { AuditEntry } from '../core/audit/entry.ts'
import type { Change } from '../core/change.ts'
import type { JsonObject } from '../core/json/json.ts'
import type { Plan, Store, Verdict } from './contract.ts'

/** The entry without secrets. `about`: the specs that it is about, whose variables may be secrets. */
export type MaskEntry = (entry: AuditEntry, about: readonly JsonObject[]) => AuditEntry

/** A store that gets the entries of the audit masked, whichever plan made them: the chain covers the stored text. */
export function withMaskedAudit(store: Store, mask: MaskEntry): Store {
  const { durability, blobs, locks, releaseSpace } = store
  return {
    durability,
    blobs,
    ...(locks === undefined ? {} : { locks }),
    ...(releaseSpace === undefined ? {} : { releaseSpace: () => releaseSpace.call(store) }),
    ask: (question) => store.ask(question),
    write: (plan) => store.write(maskedPlan(plan, mask)),
    onCommit: (listener) => store.onCommit(listener),
    close: () => store.close(),
  }
}

function maskedPlan<Answer>(plan: Plan<Answer>, mask: MaskEntry): Plan<Answer> {
  return () => new MaskedSteps(plan(), mask)
}

type Steps<Answer> = ReturnType<Plan<Answer>>

/** Passes on the steps of a plan. Every write takes this path: a generator around each plan costs more than its masking. */
class MaskedSteps<Answer> implements Steps<Answer> {
  readonly #steps: Steps<Answer>
  readonly #mask: MaskEntry

  constructor(steps: Steps<Answer>, mask: MaskEntry) {
    this.#steps = steps
    this.#mask = mask
  }

  next(known: readonly unknown[]): ReturnType<Steps<Answer>['next']> {
    return this.#masked(this.#steps.next(known))
  }

  return(verdict: Verdict<Answer>): ReturnType<Steps<Answer>['return']> {
    return this.#masked(this.#steps.return(verdict))
  }

  throw(error: unknown): ReturnType<Steps<Answer>['throw']> {
    return this.#masked(this.#steps.throw(error))
  }

  [Symbol.iterator](): this {
    return this
  }

  [Symbol.dispose](): void {
    this.#steps[Symbol.dispose]()
  }

  get [Symbol.toStringTag](): string {
    return 'MaskedSteps'
  }

  #masked(step: ReturnType<Steps<Answer>['next']>): ReturnType<Steps<Answer>['next']> {
    // Most commits have no entry.
    if (step.done !== true || !hasAudit(step.value.changes)) return step
    const { answer, changes } = step.value
    const maskedChanges: Change[] = []
    for (const change of changes) maskedChanges.push(masked(change, this.#mask))
    return { done: true, value: { answer, changes: maskedChanges } }
  }
}

function hasAudit(changes: readonly Change[]): boolean {
  for (const { type } of changes) if (type === 'audit' || type === 'audit_window') return true
  return false
}

function masked(change: Change, mask: MaskEntry): Change {
  if (change.type === 'audit') return { type: 'audit', entry: mask(change.entry, change.about ?? []) }
  if (change.type !== 'audit_window') return change
  const { was, window, about = [] } = change
  return { type: 'audit_window', was, window: { ...window, entry: mask(window.entry, about) } }
}
