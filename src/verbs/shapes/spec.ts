import * as z from 'zod'
import { json } from './json.ts'

/** One closed schema per kind: what is to be run. */
export const specs = {
  command: z
    .strictObject({
      argv: z.array(z.string()).min(1).exactOptional(),
      run: z.string().min(1).exactOptional(),
      env: z.record(z.string(), z.string()).exactOptional(),
    })
    .refine(
      (spec) => (spec.argv === undefined) !== (spec.run === undefined),
      'a command has either argv or run',
    ),
  agent: z.strictObject({ agent: z.string().min(1), goal: json.optional() }),
  engine: z.strictObject({ engine: z.string().min(1), input: json.optional() }),
  tool: z.strictObject({ tool: z.string().min(1), input: json.optional() }),
  external: z.strictObject({ description: z.string().min(1), ref: json.optional() }),
} as const
