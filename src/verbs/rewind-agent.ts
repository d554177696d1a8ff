import * as z from 'zod'
import { parts } from './shapes/agent.ts'
import { rewoundAnswer } from './shapes/agent-answer.ts'
import { byRequestId, methodCodes, requestId } from './shapes/agent-request.ts'
import { fileFates, place, removedInput } from './shapes/agent-rewind.ts'
import { count, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

const label = z
  .string()
  .min(1)
  .max(100)
  .regex(
    /^[^\p{Cc}\p{Cs}]*[^\p{Cc}\p{Cs}\d][^\p{Cc}\p{Cs}]*$/u,
    'must not be a number or have control characters',
  )

export const rewindAgent = verb({
  summary:
    'Takes the session of an idle agent back to the beginning of a turn, or to the end of another branch.',
  description:
    'The branch that it leaves stays: its label, or the number of its last turn, selects it again. With `undoFiles` a turn of its own puts back the files that file tools of the agent have changed since then and that nothing else has changed; `waitAgent` waits for it, and its result is `fileFates`. Changes by commands are not known, and are not undone.',
  route: 'POST /agents/{pid}/rewind',
  needs: 'operate',
  repeat: byRequestId,
  input: () =>
    z
      .strictObject({
        pid: processRef,
        id: requestId,
        turn: count.exactOptional().describe('the session is as it was before this turn; or give `branch`'),
        branch: z
          .string()
          .min(1)
          .max(100)
          .exactOptional()
          .describe('the label of a branch, or the number of its last turn'),
        label: label.exactOptional().describe('a name for the branch that is left'),
        undoFiles: z.boolean().exactOptional().describe('put back files, too'),
        dryRun: z
          .boolean()
          .exactOptional()
          .describe('change nothing: answer what would happen, also to files'),
        expectedHead: place.exactOptional().describe('the head of the session that the caller has seen'),
      })
      .refine(({ turn, branch }) => (turn === undefined) !== (branch === undefined), {
        message: 'give either turn or branch',
        path: ['turn'],
      }),
  output: () =>
    rewoundAnswer.extend({
      type: z.enum(['rewound', 'would_rewind']),
      removed: z
        .strictObject({ ...removedInput, parts })
        .nullable()
        .describe('the input of the first turn that is undone, to edit and send again'),
      fileFates: fileFates.nullable().describe('with `dryRun`: what would become of the files'),
    }),
  codes: [
    ...methodCodes,
    'already_running',
    'conflict',
    'not_found',
    'limit_exceeded',
    'not_available',
    'owned_elsewhere',
  ],
})
