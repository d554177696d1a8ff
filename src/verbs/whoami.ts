import * as z from 'zod'
import { actor } from './shapes/actor.ts'
import { time } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const whoami = verb({
  summary: 'Shows who the caller acts as: a token that is bound to a session acts as that session.',
  route: 'GET /whoami',
  needs: 'read',
  input: () => z.strictObject({}),
  output: () =>
    z.strictObject({
      actor,
      session: z.string().nullable().describe('null unless the caller acts as a session'),
      person: z
        .templateLiteral(['human:', z.string()])
        .nullable()
        .describe('the person behind the caller, `human:<name>`; null if none is known'),
      approver: z.boolean().describe('the person sits at this client, and may be asked there'),
      readOnly: z.boolean().describe('the caller may read, and change nothing'),
      /** By the clock of the daemon, which also sets `reader.since` and the times of records. */
      now: time,
    }),
  codes: [],
})
