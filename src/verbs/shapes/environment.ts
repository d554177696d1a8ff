import * as z from 'zod'
import type { Environment } from '../../core/environment/environment.ts'

const setting = z.union([z.string(), z.number(), z.boolean()])

export const environmentShape: z.ZodType<Environment, Environment> = z.strictObject({
  variables: z.record(
    z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be a variable name'),
    z.union([z.string(), z.strictObject({ secret: z.string().min(1) })]),
  ),
  policy: z.record(z.string(), setting),
  options: z.record(z.string(), setting),
})
