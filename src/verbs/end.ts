import * as z from 'zod'
import { json } from './shapes/json.ts'
import { record, reportedEnd } from './shapes/record.ts'
import { processRef, reason, replayKey } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const end = verb({
  summary: 'Reports the end of an external process.',
  description:
    'Reeve does not execute external processes: the program that runs one reports its end. A call that is repeated under the same replay key gets the first answer.',
  route: 'POST /processes/{pid}/end',
  needs: 'operate',
  repeat: { keys: ['replayKey'] },
  input: () =>
    z.strictObject({
      pid: processRef,
      status: reportedEnd.describe('how it ended'),
      exitCode: z.number().int().exactOptional().describe('the exit code, if there is one'),
      reason: reason.exactOptional(),
      result: json.optional().describe('the result of the process'),
      replayKey,
    }),
  output: () => z.strictObject({ type: z.enum(['ended', 'replayed']), record }),
  codes: ['unknown_pid', 'already_ended', 'not_holding', 'replay_conflict', 'denied'],
})
