import * as z from 'zod'
import { verb } from './verb.ts'

/** It is read once, when the daemon starts; what was added to a profile since is seen after this. */
export const refreshEnvironment = verb({
  summary: "Reads the login shell's environment again, for the commands to come.",
  route: 'POST /refresh-environment',
  needs: 'operate',
  input: z.strictObject({}),
  output: z.strictObject({}),
  codes: ['denied', 'not_served'],
})
