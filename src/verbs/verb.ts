import type * as z from 'zod'
import type { ErrorCode } from '../core/errors.ts'

export type Route = `${'GET' | 'POST' | 'PUT' | 'DELETE'} /${string}`

/** Each may do what those before it may. */
export const ROLES = ['read', 'operate', 'admin'] as const
export type Role = (typeof ROLES)[number]

/** An act with one schema and one name on every surface. */
export interface Verb<Input extends z.ZodType = z.ZodType, Output extends z.ZodType = z.ZodType> {
  readonly summary: string
  /** Where it is found below `/v1` on HTTP; `{names}` are members of the input. What is got changes nothing, but that it was read. */
  readonly route: Route
  /** The least role that may call it. */
  readonly needs: Role
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
