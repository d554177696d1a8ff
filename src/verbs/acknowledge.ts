import * as z from 'zod'
import { consumer, scope } from './shapes/notice.ts'
import { reader } from './shapes/reader.ts'
import { count } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/**
 * `places` are done, for everybody. `through` moves the consumer's own cursor: it is not shown what lies before any more, and
 * others are.
 */
export const acknowledge = verb({
  summary: 'Says that notices have been dealt with, so that they are not told again.',
  route: 'POST /inbox/acknowledge',
  needs: 'operate',
  input: z
    .strictObject({
      scope,
      consumer,
      places: z.array(count).min(1).max(1_000).exactOptional(),
      through: count.exactOptional(),
      reader: reader.exactOptional().describe('whose cursor moves, of several readers that are one consumer'),
    })
    .refine(
      ({ places, through }) => places !== undefined || through !== undefined,
      'give places, or through, or both',
    ),
  output: z.strictObject({
    acknowledged: z.array(count),
    /** Taken by another consumer meanwhile: left alone. */
    lost: z.array(count),
    /** Where this consumer's cursor is now. */
    through: count,
  }),
  codes: ['denied'],
})
