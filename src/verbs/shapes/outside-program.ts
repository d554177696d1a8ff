import * as z from 'zod'
import type { ProgramState } from '../../core/agent/outside.ts'
import { commandSpec } from './command-spec.ts'
import { jsonObject } from './json.ts'
import { secretOrText } from './mcp-servers.ts'
import { count } from './scalars.ts'
import { variableName } from './variables.ts'

const { argv, run } = commandSpec.shape

/** The program of an outside agent. */
export const outsideProgram = z
  .strictObject({
    argv,
    run,
    env: z
      .record(variableName, secretOrText)
      .exactOptional()
      .describe('variables of its environment; values or references to secrets'),
  })
  .refine(
    (program) => (program.argv === undefined) !== (program.run === undefined),
    'give either argv or run',
  )

/** How far the conversation of an outside agent with its program is. */
export const programState = z.strictObject({
  pid: z.string(),
  session: z.string(),
  can: z.array(z.string()),
  offset: count,
  told: count,
  costBefore: z.number().min(0).exactOptional(),
  prompt: z
    .strictObject({ turn: count, call: count, seq: count, after: count, isFirst: z.boolean() })
    .nullable(),
  permissions: z.array(
    z.strictObject({
      id: z.union([z.string(), z.number()]),
      question: z.string(),
      options: z.array(z.strictObject({ id: z.string(), name: z.string(), kind: z.string() })),
    }),
  ),
  sent: z.strictObject({ seq: count, message: jsonObject }).nullable(),
}) satisfies z.ZodType<ProgramState>
