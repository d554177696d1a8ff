import * as z from 'zod'
import { count, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

const measured = count.nullable()

/** Null is what could not be measured. */
export const usage = verb({
  summary: 'What a command and all it started have used so far.',
  route: 'GET /processes/{pid}/usage',
  needs: 'read',
  input: z.strictObject({ pid: processRef }),
  output: z.strictObject({
    cpuMs: measured,
    peakMemoryBytes: measured,
    memoryBytes: measured.describe('what is in use now; null once it has ended'),
    readBytes: measured,
    writtenBytes: measured,
    outputBytes: count,
    /** Looked at now and then: what lay between is not in it. */
    sampled: z.boolean(),
  }),
  codes: ['unknown_pid', 'ambiguous_pid', 'pruned_pid', 'denied', 'not_command', 'not_served'],
})
