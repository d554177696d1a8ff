import * as z from 'zod'
import { logItem } from './shapes/agent-log.ts'
import { processCodes } from './shapes/codes.ts'
import { record } from './shapes/record.ts'
import { count, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const agentLog = verb({
  summary: 'Reads the session log of an agent: its last items, or a page before or after a `seq`.',
  description:
    'Without `after` the items are those of the current branch: a turn that was rolled back is left out. With `after` they are all items since, in the order of the log; a `turn_ended` with the reason `rolled_back` says that its turn is no longer on the branch. A page may have fewer items than asked for if they are large.',
  route: 'GET /agents/{pid}/log',
  needs: 'read',
  input: () =>
    z
      .strictObject({
        pid: processRef,
        last: z
          .number()
          .int()
          .min(1)
          .max(1_000)
          .default(100)
          .describe('the maximum number of items, roughly'),
        before: count.exactOptional().describe('the `before` of a page, to continue towards the beginning'),
        after: count.exactOptional().describe('the `seq` to continue after'),
        blobs: z
          .boolean()
          .default(false)
          .describe(
            'large parts are included, up to 1 MiB each and 4 MiB in all; without it they are references',
          ),
      })
      .refine(({ before, after }) => before === undefined || after === undefined, {
        message: 'give before or after, not both',
        path: ['before'],
      }),
  output: () =>
    z.strictObject({
      items: z.array(logItem),
      before: count
        .nullable()
        .describe('where the page before this one ends; null at the beginning of the log, and with `after`'),
      after: count.describe('the `seq` up to which the page is complete: continue after it'),
      more: z.boolean().describe('with `after`: there are more items now'),
      phase: z.enum(['idle', 'running', 'paused']),
      record: record.describe(
        'the agent now: `agent.head`, the open turn `agent.turn`, and in `agent.turn.call.from` where the model call under way begins in the output',
      ),
      position: count.describe('the position of the change feed before the log was read: follow from here'),
    }),
  codes: [...processCodes, 'invalid_request'],
})
