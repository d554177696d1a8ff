import * as z from 'zod'
import { processCodes } from './shapes/codes.ts'
import { worktreeRef } from './shapes/worktree.ts'
import { verb } from './verb.ts'

export const mergeWorktree = verb({
  summary: 'Merges the worktree of an agent into the checkout of its parent, as a whole or not at all.',
  description:
    'Changes that are not committed there are committed first. A conflict, and a file with changes in the checkout that are not committed, is a `conflict`: it names the files, and the checkout stays as it was. The worktree is removed with the end of its agent.',
  route: 'POST /worktrees/{worktree}/merge',
  needs: 'operate',
  input: () => z.strictObject({ worktree: worktreeRef }),
  output: () =>
    z.strictObject({
      type: z.enum(['merged', 'unchanged']).describe('unchanged: the checkout had all of it'),
      pid: z.string(),
      branch: z.string(),
      into: z.string().describe('the checkout'),
      commit: z.string().nullable(),
      paths: z.array(z.string()).describe('the first 1000 files that changed'),
      removed: z.boolean().describe('the worktree is removed'),
    }),
  codes: [...processCodes, 'not_found', 'not_available', 'conflict', 'path_held'],
})
