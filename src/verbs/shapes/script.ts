import * as z from 'zod'
import { MAX_SOURCE_CHARS } from '../../core/script/limits.ts'
import { isToolName } from '../../core/tool/declaration.ts'
import type { WrittenTool } from '../../core/tool/written-tool.ts'
import { actor } from './actor.ts'
import { jsonObject } from './json.ts'
import { count, time } from './scalars.ts'

/** The stored state of a script that waits. */
export const scriptSnapshot = z.strictObject({
  hash: z.string(),
  bytes: count,
  engine: z.string(),
  through: count,
  calls: count,
  time,
  pending: z.array(count),
})

/** A tool that an agent has written. */
export const writtenTool = z.strictObject({
  name: z
    .string()
    .refine(isToolName, 'must be letters, digits, - and _, at most 64')
    .describe('the name by which models call it'),
  description: z.string().min(1).max(4_000).describe('what it does, for its callers'),
  inputSchema: jsonObject.describe('the JSON Schema of its input, an object'),
  source: z
    .string()
    .min(1)
    .max(MAX_SOURCE_CHARS)
    .describe('TypeScript: `export default async (args, reeve) => …`'),
}) satisfies z.ZodType<WrittenTool>

/** What is known of a written tool besides its content. */
export const toolVersion = {
  hash: z.string().describe('of its content'),
  version: count.describe('how often the name was registered'),
  owner: z.string().describe('the agent that it was registered for: this one, or one that handed it down'),
  at: time,
  by: actor.describe('the agent, if it proposed the tool'),
  approval: z
    .string()
    .nullable()
    .describe('of the person who read it; null if a rule allowed it, or a person registered it'),
  revoked: z.strictObject({ at: time, by: actor, reason: z.string().nullable() }).nullable(),
}
