import * as z from 'zod'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import { type AgentTool, agentTool, textOutput } from '../tools/agent-tool.ts'
import { fileNeed } from '../tools/files/workspace-path.ts'
import type { ToolboxParts } from './toolbox.ts'

const LISTED = 50
/** Effects of a merge that are ruled on one by one. A larger one is ruled on as a write of the whole workspace. */
const MAX_NEEDS = 100

/** Merges the worktrees of agents below an agent. */
export function worktreeTool(
  { root }: { readonly root: string | null },
  mergedPaths: NonNullable<ToolboxParts['mergedPaths']>,
  reeve: () => ReeveVerbs,
): AgentTool {
  const workspace = root ?? '/'
  return agentTool({
    name: 'worktree_merge',
    description:
      'Merges the worktree of one of your agents into your checkout, all of it or nothing; conflicts are named. The agent must not be at work.',
    input: z.strictObject({ pid: z.string().min(1).max(200).describe('the pid of the agent') }),
    recovery: 'rerunnable',
    spare: true,
    async needs({ pid: of }) {
      const changed = await mergedPaths(of)
      const paths = changed.length > MAX_NEEDS ? [workspace] : changed
      return paths.map((real) => fileNeed('write', workspace, { real, shown: real, isInside: true }))
    },
    async run({ pid: of }) {
      const { type, branch, paths, removed } = await reeve().mergeWorktree({ worktree: of })
      const rest = removed ? ' The worktree is removed.' : ''
      if (type === 'unchanged') return textOutput(`You have all of ${branch} already.${rest}`)
      const shown = paths.slice(0, LISTED).join(', ')
      const more = paths.length > LISTED ? ` and ${paths.length - LISTED} more` : ''
      return textOutput(`Merged ${branch}: ${shown}${more}.${rest}`)
    },
  })
}
