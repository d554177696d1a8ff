import * as z from 'zod'
import { registration } from './shapes/registration.ts'
import { spawn, spawnKey } from './spawn.ts'
import { verb } from './verb.ts'

export const spawnMany = verb({
  summary: 'Registers many processes at once.',
  description:
    'In one transaction: all processes, or none. A later request may name an earlier one as its parent if that one was given a pid.',
  route: 'POST /spawn-many',
  needs: 'operate',
  repeat: { ...spawnKey, each: 'processes' },
  input: () =>
    z.strictObject({
      processes: z
        .array(registration)
        .min(1)
        .max(10_000)
        .describe('the processes, in the order of their registration'),
    }),
  output: () => z.strictObject({ processes: z.array(spawn.output) }),
  codes: spawn.codes,
})
