import { RefusedError } from '../core/errors.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { refusal } from '../core/refusal.ts'
import type { Worktree } from '../core/worktree/worktree.ts'
import { type ActionParts, type ActionsFor, permitOnProcess, permitOrAudit } from './action.ts'
import type { AgentWorktrees } from './agent-facts.ts'

const MAX_PATHS = 1_000

/** Worktrees of agents. They belong to the parents, into whose checkouts they are merged. */
export function worktreeActions(
  parts: ActionParts,
): ActionsFor<'worktrees' | 'mergeWorktree' | 'removeWorktree'> {
  const { kernel, actor } = parts
  const { edges } = kernel
  const parentOf = async ({ parent }: Worktree): Promise<ProcessRecord | null> =>
    (await edges.store.ask({ ask: 'process', pid: parent }))?.record ?? null
  const permit = async (action: 'mergeWorktree' | 'removeWorktree', worktree: Worktree) => {
    const parent = await parentOf(worktree)
    // A pruned parent has no owner any more.
    if (parent === null) return permitOrAudit(parts, action, 'write')
    return permitOnProcess(parts, action, 'write', parent)
  }
  const mayRead = async (worktree: Worktree): Promise<boolean> => {
    const record = await parentOf(worktree)
    const resource = record === null ? ({ type: 'store' } as const) : ({ type: 'process', record } as const)
    return edges.authorize(actor, 'read', resource) === undefined
  }
  return {
    async worktrees() {
      const all = (await parts.agents?.worktrees?.list()) ?? []
      const may = await Promise.all(all.map(mayRead))
      return { worktrees: all.filter((_, index) => may[index] === true) }
    },
    async mergeWorktree({ worktree: text }) {
      const worktrees = opened(parts)
      const worktree = await worktrees.find(text)
      await permit('mergeWorktree', worktree)
      const { commit, paths, removed } = await worktrees.merge(worktree)
      const { pid, branch, into } = worktree
      const type = commit === null ? 'unchanged' : 'merged'
      return { type, pid, branch, into, commit, paths: paths.slice(0, MAX_PATHS), removed }
    },
    async removeWorktree({ worktree: text, discard }) {
      const worktrees = opened(parts)
      const worktree = await worktrees.find(text)
      await permit('removeWorktree', worktree)
      await worktrees.remove(worktree, discard)
      return { removed: true }
    },
  }
}

function opened({ agents }: ActionParts): AgentWorktrees {
  if (agents?.worktrees !== undefined) return agents.worktrees
  throw new RefusedError(
    refusal(
      'not_available',
      'This program has no data folder, and so no worktrees.',
      'Ask a daemon, or embed Reeve with commands.',
    ),
  )
}
