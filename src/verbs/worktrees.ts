import * as z from 'zod'
import { worktree } from './shapes/worktree.ts'
import { verb } from './verb.ts'

export const worktrees = verb({
  summary: 'Lists the git worktrees of agents, the oldest first.',
  description:
    'Those of agents that the caller sees. A worktree of an agent that has ended is listed as long as work in it is nowhere else.',
  route: 'GET /worktrees',
  needs: 'read',
  input: () => z.strictObject({}),
  output: () => z.strictObject({ worktrees: z.array(worktree) }),
  codes: ['denied', 'not_available', 'conflict'],
})
