import * as z from 'zod'
import { count, pid, time } from './scalars.ts'

export const worktreeRef = z
  .string()
  .min(1)
  .max(200)
  .describe('a worktree: the pid or the name of its agent, or its branch')

export const worktree = z.strictObject({
  pid: pid.describe('the agent that works there'),
  name: z.string().describe('the name of the agent, or its pid'),
  parent: pid.describe('the agent that it works for'),
  branch: z.string(),
  base: z.string().describe('the commit that it began with'),
  folder: z.string(),
  into: z.string().describe('the checkout that it is merged into'),
  madeAt: time,
  isReadable: z.boolean().describe('false: it or its repository was moved or is damaged'),
  hasFolder: z.boolean().describe('false: a person removed the folder'),
  hasBranch: z.boolean(),
  uncommitted: count.describe('files with changes that are not committed'),
  unmerged: count.describe('commits that the checkout does not have'),
  state: z.enum(['in_use', 'kept']).describe('kept: the agent has ended, and work would be lost without it'),
  because: z
    .string()
    .nullable()
    .describe('the work that is nowhere else; null: it is removed when its agent ends'),
})
