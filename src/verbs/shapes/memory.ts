import * as z from 'zod'
import type { AgentMemory, MemoryNote } from '../../core/memory/memory-note.ts'
import type { MemorySpec } from '../../core/memory/memory-spec.ts'
import { count, duration } from './scalars.ts'

export const memoryModel = z
  .string()
  .max(200)
  .regex(/^[^\s/]+\/\S+$/, 'must be <provider>/<model>')

/** How long a call of the model that keeps memory may take. */
export const memoryTimeoutMs = duration.min(1_000).max(3_600_000)

/** Whether an agent has long-term memory. */
export const memory = z
  .union([
    z.boolean(),
    z.strictObject({
      model: memoryModel.exactOptional().describe('the model that keeps it; that of the agent if left out'),
      timeoutMs: memoryTimeoutMs.exactOptional().describe('how long one call of that model may take'),
    }),
  ])
  .describe(
    'long-term memory in memory/ and knowledge/ of its workspace: true, or with a model and a time limit for the job that keeps it; off if left out',
  ) satisfies z.ZodType<MemorySpec>

const use = z.strictObject({
  model: z.string(),
  inputTokens: count,
  cachedInputTokens: count,
  outputTokens: count,
  cost: z.number().nullable(),
  isEstimate: z.boolean(),
})

const job = z.string()
const call = z.string()

/** What the job that keeps memory has noted. */
export const memoryNote = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('call_begun'), job, call, estimate: use }),
  z.strictObject({ type: z.literal('call_ended'), job, call, use: use.nullable() }),
  z.strictObject({ type: z.literal('updated'), job, through: count, files: z.array(z.string()) }),
  z.strictObject({ type: z.literal('failed'), job, message: z.string() }),
]) satisfies z.ZodType<MemoryNote>

/** How far long-term memory has come. */
export const agentMemory = z.strictObject({
  through: count,
  call: z.strictObject({ id: z.string(), estimate: use }).exactOptional(),
}) satisfies z.ZodType<AgentMemory>
