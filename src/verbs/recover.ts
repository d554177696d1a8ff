import * as z from 'zod'
import { verb } from './verb.ts'

/** It happens by itself at the start and in every sweep; this does it now. */
export const recover = verb({
  summary: 'Looks after what dead holders left behind.',
  input: z.strictObject({}),
  output: z.strictObject({
    checked: z.array(z.string()),
    adopted: z.array(z.string()),
    rerun: z.array(z.string()),
    completed: z.array(z.string()),
    abandoned: z.array(z.string()),
    left: z.array(z.string()),
  }),
  codes: ['denied'],
})
