import * as z from 'zod'
import { commandSpec } from './command-spec.ts'
import { json } from './json.ts'

/** One closed schema per kind: what is to be run. */
export const specs = {
  command: commandSpec,
  agent: z.strictObject({ agent: z.string().min(1), goal: json.optional() }),
  workflow: z.strictObject({ workflow: z.string().min(1), input: json.optional() }),
  tool: z.strictObject({ tool: z.string().min(1), input: json.optional() }),
  external: z.strictObject({ description: z.string().min(1), ref: json.optional() }),
} as const
