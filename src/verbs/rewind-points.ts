import * as z from 'zod'
import { place, rewindPoint, sessionBranch } from './shapes/agent-rewind.ts'
import { processCodes } from './shapes/codes.ts'
import { count, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const rewindPoints = verb({
  summary:
    'Lists the turns that the session of an agent can be rewound to, the latest first, and its other branches.',
  route: 'GET /agents/{pid}/rewind',
  needs: 'read',
  input: () =>
    z.strictObject({
      pid: processRef,
      before: count.exactOptional().describe('the `next` of a page'),
      limit: z.number().int().min(1).max(1_000).default(100).describe('the maximum number of turns'),
    }),
  output: () =>
    z.strictObject({
      head: place,
      turns: z.array(rewindPoint),
      next: count.nullable().describe('to continue towards the beginning; null at the beginning'),
      branches: z.array(sessionBranch).describe('the other branches, the latest first; at most 1,000'),
    }),
  codes: [...processCodes, 'invalid_request', 'already_running'],
})
