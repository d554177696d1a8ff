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
  input: () =>
    z.strictObject({
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
  output: () =>
    z.strictObject({
      processes: z
        .array(
          z.strictObject({
            record: record.describe('the process as its events describe it'),
            shared: z.boolean().describe('it is visible through a grant only'),
            heldBack,
            ports: z
              .array(count)
              .exactOptional()
              .describe('with `ports`: the TCP ports that a command listens on, if it listens on any'),
            budget: budgetShape
              .exactOptional()
              .describe(
                'with `budgets`: of processes that have an allowance or were charged, or whose descendants were',
              ),
          }),
        )
        .describe('a page of processes'),
      next: z.string().nullable().describe('the cursor of the next page; null if there is none'),
    }),
  codes: ['denied'],
})
