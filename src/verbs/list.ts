import * as z from 'zod'
import { budgetShape } from './shapes/allowance.ts'
import { filter } from './shapes/filter.ts'
import { heldBack } from './shapes/held-back.ts'
import { reveal } from './shapes/output.ts'
import { record } from './shapes/record.ts'
import { count, cursor, pageSize, turnId } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/** In order of registration, or the newest first. `shared` marks what is listed only because of a grant. */
export const list = verb({
  summary: 'Lists processes; without a status, those that have not ended.',
  route: 'GET /processes',
  needs: 'read',
  input: z.strictObject({
    filter: filter.default({}),
    after: cursor.exactOptional(),
    limit: pageSize,
    newestFirst: z
      .boolean()
      .default(false)
      .describe('the last registered first; after goes on to older ones'),
    ports: z.boolean().default(false).describe('with the TCP ports that commands listen on'),
    turn: turnId
      .exactOptional()
      .describe('whose turn it is: it is not told again in this turn of the ends that are listed'),
    budgets: z.boolean().default(false).describe('with what they may use and have used'),
    reveal,
  }),
  output: z.strictObject({
    processes: z.array(
      z.strictObject({
        record,
        shared: z.boolean(),
        heldBack,
        /** Of commands that listen on any, where they were asked for. */
        ports: z.array(count).exactOptional(),
        /** Of those that have an allowance or were charged, or anybody below them; where they were asked for. */
        budget: budgetShape.exactOptional(),
      }),
    ),
    next: z.string().nullable(),
  }),
  codes: ['denied'],
})
