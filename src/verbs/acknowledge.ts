import * as z from 'zod'
import { consumer, scope } from './shapes/notice.ts'
import { reader } from './shapes/reader.ts'
import { count } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const acknowledge = verb({
  summary: 'Marks notices as handled, so that they are not delivered again.',
  description:
    '`positions` marks notices as done for all consumers. `through` moves the cursor of this consumer only: earlier notices are no longer delivered to it, and other consumers still get them.',
  route: 'POST /inbox/acknowledge',
  needs: 'operate',
  repeat: 'always',
  input: () =>
    z
      .strictObject({
        scope,
        consumer,
        positions: z
          .array(count)
          .min(1)
          .max(1_000)
          .exactOptional()
          .describe('positions of notices that are done'),
        through: count
          .exactOptional()
          .describe('the position up to which this consumer has handled all notices'),
        reader: reader
          .exactOptional()
          .describe('the reader whose cursor moves, if several readers are one consumer'),
      })
      .refine(
        ({ positions, through }) => positions !== undefined || through !== undefined,
        'give positions, or through, or both',
      ),
  output: () =>
    z.strictObject({
      acknowledged: z.array(count).describe('positions of notices that are done now'),
      lost: z
        .array(count)
        .describe('positions of notices that another consumer has taken meanwhile; they are not changed'),
      through: count.describe('the cursor of this consumer now'),
    }),
  codes: ['denied'],
})
