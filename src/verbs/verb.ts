import type * as z from 'zod'
import type { ErrorCode } from '../core/errors.ts'

/** An act with one schema and one name on every surface. */
export interface Verb<Input extends z.ZodType = z.ZodType, Output extends z.ZodType = z.ZodType> {
  readonly summary: string
  readonly input: Input
  readonly output: Output
  /** What it may refuse with, besides `invalid_input` and trouble of the store. */
  readonly codes: readonly ErrorCode[]
}

export function verb<Input extends z.ZodType, Output extends z.ZodType>(
  described: Verb<Input, Output>,
): Verb<Input, Output> {
  return described
}
