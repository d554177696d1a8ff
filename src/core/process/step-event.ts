import type { Json } from '../json/json.ts'

export const STEP_KINDS = ['step', 'sleep', 'signal', 'receive', 'spawn', 'wait'] as const
export type StepKind = (typeof STEP_KINDS)[number]

/** One step of a workflow has ended for good: with a result, or after its last try. */
export type StepEnded = {
  /** From 1, in the order in which the steps began. */
  readonly stepIndex: number
  readonly kind: StepKind
  readonly name: string
  readonly began: number
  readonly tries: number
} & (
  | {
      readonly how: 'done' /** Encoded (`core/value`). Absent where the step returned nothing. */
      readonly value?: Json
    }
  /** `thrown` is the encoded error (`core/value`), with name, code and cause. Absent in logs of earlier versions. */
  | { readonly how: 'failed'; readonly error: string; readonly thrown?: Json }
)

/** A step failed, and is tried again at `retryAt`. */
export interface StepTried {
  readonly stepIndex: number
  readonly kind: StepKind
  readonly name: string
  readonly tries: number
  readonly error: string
  readonly retryAt: number
}
