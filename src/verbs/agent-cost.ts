import * as z from 'zod'
import { used } from './shapes/agent-view.ts'
import { processCodes } from './shapes/codes.ts'
import { count, pageSize, pid, processRef, time } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const agentCost = verb({
  summary:
    'Shows the tokens and the cost of an agent: by model call, by turn, in all, and with everything below it.',
  description: 'A cost that is not known is null, never 0: `unpriced` counts the calls without a price.',
  route: 'GET /agents/{pid}/cost',
  needs: 'read',
  input: () =>
    z.strictObject({
      pid: processRef,
      after: count.exactOptional().describe('only turns after this one: `next` of the page before'),
      limit: pageSize.describe('the maximum number of turns'),
    }),
  output: () =>
    z.strictObject({
      pid,
      total: z.strictObject(used).describe('of the agent itself'),
      tree: z.strictObject(used).describe('of the agent and everything below it'),
      turns: z
        .array(
          z.strictObject({
            turn: count.describe('the number of the turn'),
            ...used,
            calls: z.array(
              z.strictObject({
                call: count.describe('the number of the call in its turn'),
                at: time,
                model: z.string(),
                inputTokens: count,
                cachedInputTokens: count.describe('tokens of the prompt that the provider had in its cache'),
                outputTokens: count,
                cost: z.number().nullable().describe('null if the model has no known price'),
                isEstimate: z.boolean().describe('the provider reported no usage'),
                memory: z.literal(true).exactOptional().describe('of the job that keeps long-term memory'),
              }),
            ),
          }),
        )
        .describe('turns with model calls, the oldest first'),
      next: count.nullable().describe('continue after this turn; null if no further turn is there'),
    }),
  codes: [...processCodes, 'invalid_request'],
})
