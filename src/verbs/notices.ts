import * as z from 'zod'
import { consumer, notice, scope, waitMs } from './shapes/notice.ts'
import { reader } from './shapes/reader.ts'
import { count, pageSize, turnId } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/**
 * Reads without taking: any number of readers may. What nobody has done with is shown, from the place `after` on, or behind
 * what this consumer has acknowledged.
 */
export const notices = verb({
  summary: 'Reads what a scope is told.',
  route: 'GET /inbox',
  needs: 'read',
  input: z.strictObject({
    scope,
    consumer: consumer.exactOptional().describe('go on behind what this consumer has acknowledged'),
    after: count.exactOptional().describe('next of an earlier answer'),
    limit: pageSize,
    newest: z.boolean().default(false).describe('the last ones instead of the first'),
    all: z.boolean().default(false).describe('with those that are done, too'),
    turn: turnId.exactOptional().describe('leave out what was looked at in this turn'),
    reader: reader.exactOptional().describe('whose cursor it is, of several readers that are one consumer'),
    waitMs: waitMs.describe('how long to wait for one if there is none, in milliseconds'),
  }),
  output: z.strictObject({
    notices: z.array(notice),
    /** Go on after it. */
    next: count,
    /** There is more already. */
    more: z.boolean(),
  }),
  codes: ['denied'],
})
