import type { Store } from '../store/contract.ts'
import type { PlanPart } from './plan-part.ts'

/** Answers a part of a plan that changes nothing, outside of a transaction. */
export async function readPart<Answer>(store: Pick<Store, 'ask'>, part: PlanPart<Answer>): Promise<Answer> {
  let known: readonly unknown[] = []
  for (;;) {
    const step = part.next(known)
    if (step.done) return step.value
    known = await Promise.all(step.value.map((question) => store.ask(question)))
  }
}
