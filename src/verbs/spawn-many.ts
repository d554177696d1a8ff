import * as z from 'zod'
import { registration } from './shapes/registration.ts'
import { spawn } from './spawn.ts'
import { verb } from './verb.ts'

/** In one transaction: all of them, or none. A later request may name an earlier one as its parent, if that one was given a pid. */
export const spawnMany = verb({
  summary: 'Registers many processes at once.',
  route: 'POST /spawn-many',
  needs: 'operate',
  input: z.strictObject({ processes: z.array(registration).min(1).max(10_000) }),
  output: z.strictObject({ processes: z.array(spawn.output) }),
  codes: spawn.codes,
})
