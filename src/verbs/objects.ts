import * as z from 'zod'
import { processCodes } from './shapes/codes.ts'
import { shownObject } from './shapes/object.ts'
import { processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const objects = verb({
  summary: 'Lists the objects in the view of a process, in the order of their names.',
  description:
    'The view has the objects of the process, those that it has handles to, and in a fork those of the process that it was forked from. Handles that were revoked are left out.',
  route: 'GET /processes/{pid}/objects',
  needs: 'read',
  input: () =>
    z.strictObject({
      pid: processRef.describe('the process whose view it is'),
      prefix: z.string().max(200).default('').describe('only names that begin with it'),
      after: z.string().max(200).exactOptional().describe('the `next` of a page, to continue'),
      limit: z.number().int().min(1).max(1_000).default(100),
    }),
  output: () =>
    z.strictObject({
      objects: z.array(shownObject),
      next: z.string().nullable().describe('where the next page continues; null if there is none'),
    }),
  codes: [...processCodes],
})
