import * as z from 'zod'
import { budgetShape } from './shapes/allowance.ts'
import { filter } from './shapes/filter.ts'
import { heldBack } from './shapes/held-back.ts'
import { reveal } from './shapes/output.ts'
import { record } from './shapes/record.ts'
import { count, cursor, pageSize, turnId } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const list = verb({
  summary: 'Lists processes; without a status, those that have not ended.',
  description:
    'In order of registration, or the newest first. `shared` marks processes that are visible through a grant only.',
  route: 'GET /processes',
  needs: 'read',
  showsMany: true,
  input: z.strictObject({
    filter: filter.default({}).describe('which processes'),
    after: cursor.exactOptional(),
    limit: pageSize,
    newestFirst: z
      .boolean()
      .default(false)
      .describe('the last registered first; after continues with older ones'),
    ports: z.boolean().default(false).describe('with the TCP ports that commands listen on'),
    turn: turnId
      .exactOptional()
      .describe('the turn that reads: notices of the listed ends are not delivered again in this turn'),
    budgets: z.boolean().default(false).describe('with what each may use and has used'),
    reveal,
  }),
  output: z.strictObject({
    processes: z.array(
      z.strictObject({
        record,
        shared: z.boolean(),
        heldBack,
        /** With `ports`, for commands that listen on any. */
        ports: z.array(count).exactOptional(),
        /** With `budgets`, for processes that have an allowance or were charged, or whose descendants were. */
        budget: budgetShape.exactOptional(),
      }),
    ),
    next: z.string().nullable(),
  }),
  codes: ['denied'],
})
