import type { Plan, Question, Verdict } from '../contract.ts'
import { type Facts, keyOf } from './facts.ts'
import { LATER, MISSING, PlanReading } from './plan-reading.ts'
import { STALE, Staged } from './staged.ts'
import { unprovedQuestions } from './unproved-questions.ts'

/** A plan, and the promise of its answer. */
export interface PendingPlan {
  readonly plan: Plan<unknown>
  readonly resolve: (answer: never) => void
  readonly reject: (error: unknown) => void
}

/** The outcome of running a batch of plans on the facts at hand. */
export type Pass =
  | { readonly type: 'missing'; readonly questions: readonly Question[] }
  | { readonly type: 'stale' }
  /** One answer per plan that has run. The first plan without one needs to see the others committed. */
  | { readonly type: 'ran'; readonly staged: Staged; readonly answers: readonly (() => void)[] }

/** Runs plans one after another, each on the changes of the plans before it, until one needs an unknown fact. */
export function runPlans(batch: readonly PendingPlan[], facts: Facts, optimistic: boolean): Pass {
  const staged = new Staged(facts)
  const answers: (() => void)[] = []
  const missing = new Map<string, Question>()
  for (const pending of batch) {
    const ran = runPlan(pending, staged, { facts, optimistic })
    if (ran === LATER) break
    if (ran === STALE) return { type: 'stale' }
    if (typeof ran === 'function') answers.push(ran)
    else for (const question of ran) missing.set(keyOf(question), question)
    if (staged.isFinal) break
  }
  return missing.size > 0
    ? { type: 'missing', questions: [...missing.values()] }
    : { type: 'ran', staged, answers }
}

/** Returns how to answer the caller after the commit, or the questions that have to be loaded first. */
function runPlan(
  { plan, resolve, reject }: PendingPlan,
  staged: Staged,
  on: { readonly facts: Facts; readonly optimistic: boolean },
): (() => void) | readonly Question[] | typeof LATER | typeof STALE {
  const reading = new PlanReading(staged, on.facts)
  // A plan that throws has a defect, which is reported to its caller alone. But the facts that it was given have to be true.
  const failWith = (error: unknown) => {
    const unproved = unprovedQuestions([], reading.assumed, on)
    if (unproved.length > 0) return unproved
    staged.apply([], reading)
    return () => reject(error)
  }
  let verdict: Verdict<unknown>
  try {
    const steps = plan()
    let known: readonly unknown[] = []
    for (;;) {
      const step = steps.next(known)
      if (step.done) {
        verdict = step.value
        break
      }
      const answers = step.value.map((question) => reading.answer(question))
      if (answers.includes(LATER)) return LATER
      if (answers.includes(MISSING)) return step.value.filter((_, index) => answers[index] === MISSING)
      known = answers
    }
  } catch (error) {
    return failWith(error)
  }
  const { answer, changes } = verdict
  const unproved = unprovedQuestions(changes, reading.assumed, on)
  if (unproved.length > 0) return unproved
  try {
    const applied = staged.apply(changes, reading)
    return applied === 'applied' ? () => resolve(answer as never) : applied
  } catch (error) {
    return failWith(error)
  }
}
