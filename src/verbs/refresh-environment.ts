import * as z from 'zod'
import { verb } from './verb.ts'

export const refreshEnvironment = verb({
  summary: "Reads the login shell's environment again, for later commands.",
  description:
    'It is read once, when the daemon starts. Variables that were added to a profile since then are seen after this.',
  route: 'POST /refresh-environment',
  needs: 'operate',
  input: () => z.strictObject({}),
  output: () => z.strictObject({}),
  codes: ['denied', 'not_served'],
})
