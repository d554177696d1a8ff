import * as z from 'zod'
import { commandCodes } from './shapes/codes.ts'
import { count, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

const measured = count.nullable()

export const usage = verb({
  summary: 'Shows what a command and all its descendants have used so far.',
  description: 'Null stands for an amount that could not be measured.',
  route: 'GET /processes/{pid}/usage',
  needs: 'read',
  input: () => z.strictObject({ pid: processRef }),
  output: () =>
    z.strictObject({
      cpuMs: measured,
      peakMemoryBytes: measured,
      memoryBytes: measured.describe('memory in use now; null after its end'),
      readBytes: measured,
      writtenBytes: measured,
      outputBytes: count,
      /** Measured at intervals: peaks between two measurements are missing. */
      sampled: z.boolean(),
    }),
  codes: commandCodes,
})
