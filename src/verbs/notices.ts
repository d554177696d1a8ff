import * as z from 'zod'
import { consumer, notice, scope, waitMs } from './shapes/notice.ts'
import { reader } from './shapes/reader.ts'
import { count, pageSize, turnId } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const notices = verb({
  summary: 'Reads the notices of a scope.',
  description:
    'Reading takes nothing: any number of readers may read. It shows notices that are not done, after the position `after`, or after those that this consumer has acknowledged.',
  route: 'GET /inbox',
  needs: 'read',
  input: () =>
    z.strictObject({
      scope,
      consumer: consumer.exactOptional().describe('continue after what this consumer has acknowledged'),
      after: count.exactOptional().describe('next of an earlier answer'),
      limit: pageSize,
      newest: z.boolean().default(false).describe('the last notices instead of the first'),
      all: z.boolean().default(false).describe('also notices that are done'),
      turn: turnId.exactOptional().describe('skip notices about processes that this turn has read'),
      reader: reader
        .exactOptional()
        .describe('the reader whose cursor it is, if several readers are one consumer'),
      waitMs: waitMs.describe('how long to wait for a notice if there is none, in milliseconds'),
    }),
  output: () =>
    z.strictObject({
      notices: z.array(notice).describe('the notices, in order of position'),
      next: count.describe('the position to continue after'),
      more: z.boolean().describe('there are more notices now'),
    }),
  codes: ['denied'],
})
