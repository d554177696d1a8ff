import type { Question } from '../store/contract.ts'

/** A part of a plan: it yields questions, gets their answers, and returns a value. */
export type PlanPart<Answer> = Generator<readonly Question[], Answer, readonly unknown[]>
