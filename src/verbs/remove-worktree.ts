import * as z from 'zod'
import { processCodes } from './shapes/codes.ts'
import { worktreeRef } from './shapes/worktree.ts'
import { verb } from './verb.ts'

export const removeWorktree = verb({
  summary: 'Removes the worktree of an agent that has ended, and its branch.',
  route: 'POST /worktrees/{worktree}/remove',
  needs: 'operate',
  input: () =>
    z.strictObject({
      worktree: worktreeRef,
      discard: z.boolean().default(false).describe('also with work that is nowhere else, which is lost'),
    }),
  output: () => z.strictObject({ removed: z.literal(true) }),
  codes: [...processCodes, 'not_found', 'not_available', 'conflict'],
})
