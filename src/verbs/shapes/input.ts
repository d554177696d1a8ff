import * as z from 'zod'
import { commandCodes } from './codes.ts'
import { count } from './scalars.ts'

export const writeAnswer = z.strictObject({
  type: z.enum(['written', 'replayed']),
  bytes: count,
  /** The end of the output log just before the write: a response to this input comes after it. */
  end: count,
})
export const inputCodes = [
  ...commandCodes,
  'already_ended',
  'not_begun',
  'no_input',
  'input_closed',
  'input_full',
] as const
