import * as z from 'zod'
import { CONFLICT_REASONS, SKIP_REASONS } from '../core/object/merge.ts'
import { processCodes } from './shapes/codes.ts'
import { mergePolicy } from './shapes/object.ts'
import { count, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const mergeObjects = verb({
  summary: 'Merges the objects of an ended child into the view of its parent.',
  description:
    'What the child wrote is compared with what its parent had when the child was forked. An object that the parent has changed since is a conflict, and stays as it is.',
  route: 'POST /processes/{pid}/objects/merge',
  needs: 'operate',
  input: () =>
    z.strictObject({
      pid: processRef.describe('the parent'),
      from: processRef.describe('the ended child'),
      policy: mergePolicy
        .default('results')
        .describe('`results`: what the child ended with; `all_new`: all that it wrote'),
    }),
  output: () =>
    z.strictObject({
      merged: z.array(z.strictObject({ name: z.string(), version: count })),
      skipped: z.array(z.strictObject({ name: z.string(), reason: z.enum(SKIP_REASONS) })),
      conflicts: z.array(z.strictObject({ name: z.string(), reason: z.enum(CONFLICT_REASONS) })),
    }),
  codes: [...processCodes, 'already_ended', 'not_available', 'limit_exceeded'],
})
