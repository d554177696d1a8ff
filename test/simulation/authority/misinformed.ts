import type { Change, Plan, Question, Verdict } from '../../../src/store/contract.ts'

export type Steps<Answer> = Generator<readonly Question[], Verdict<Answer>, readonly unknown[]>

/** A false answer to a question; `round` is how often the plan has asked before, `together` what it asks at the same time. */
type Forge = (question: Question, answer: unknown, round: number, together: readonly Question[]) => unknown

/** Runs a plan with false answers to some of its questions. */
export function* misinformed<Answer>(plan: Plan<Answer>, forge: Forge): Steps<Answer> {
  const steps = plan()
  let known: readonly unknown[] = []
  for (let round = 0; ; round++) {
    const step = steps.next(known)
    if (step.done) return step.value
    const questions = step.value
    const answers = yield questions
    known = questions.map((question, index) => forge(question, answers[index], round, questions))
  }
}

/** Keeps what a misinformed plan decides only if the bug is in it. Any other verdict is decided again on true facts. */
export function forging<Answer>(
  plan: Plan<Answer>,
  isWanted: (changes: readonly Change[]) => boolean,
  forge: Forge,
): Plan<Answer> {
  return function* (): Steps<Answer> {
    const verdict = yield* misinformed(plan, forge)
    return isWanted(verdict.changes) ? verdict : yield* plan()
  }
}
