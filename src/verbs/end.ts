import * as z from 'zod'
import { json } from './shapes/json.ts'
import { record } from './shapes/record.ts'
import { processRef, reason, replayKey } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/** For external processes, which nobody here executes: whoever runs it reports how it ended. A repetition under the same replay key is answered with the first. */
export const end = verb({
  summary: 'Reports the end of an external process.',
  route: 'POST /processes/{pid}/end',
  needs: 'operate',
  input: z.strictObject({
    pid: processRef,
    status: z.enum(['completed', 'failed', 'cancelled']),
    exitCode: z.number().int().exactOptional(),
    reason: reason.exactOptional(),
    result: json.optional(),
    replayKey,
  }),
  output: z.strictObject({ how: z.enum(['ended', 'replayed']), record }),
  codes: ['unknown_pid', 'already_ended', 'not_holding', 'replay_conflict', 'denied'],
})
