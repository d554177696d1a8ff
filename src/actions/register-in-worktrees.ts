import { invalidRequest } from '../core/agent/refusals.ts'
import { RefusedError } from '../core/errors.ts'
import { delegatedPaths } from '../core/lien/lien.ts'
import { shownPath } from '../core/lien/shown-path.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import type { ParsedInputOf } from '../verbs/reeve.ts'
import type { ActionParts } from './action.ts'
import type { AgentWorktrees } from './agent-facts.ts'

type Request = ParsedInputOf<'spawn'>

/** A request, and whether its agent gets a worktree. */
export interface PlacedRequest {
  readonly request: Request
  readonly hasWorktree: boolean
  /** Throws a refusal if the model cannot be opened in this folder: a worktree has no files that are not committed. */
  checkModel?(folder: string): Promise<void>
}

/**
 * Registers agents, some of them with git worktrees of their own as workspaces. A worktree is noted, then made, then the agents are
 * registered: a crash in between leaves worktrees that are listed and cleaned up, and never an agent without one.
 */
export async function registerInWorktrees<Answer>(
  parts: ActionParts,
  parent: ProcessRecord,
  children: readonly PlacedRequest[],
  register: (requests: readonly Request[]) => Promise<Answer>,
): Promise<Answer> {
  if (children.every(({ hasWorktree }) => !hasWorktree))
    return register(children.map(({ request }) => request))
  const worktrees = await openedFor(parts, parent, children)
  const made: Pid[] = []
  try {
    const placed: Request[] = []
    for (const { request, hasWorktree, checkModel } of children) {
      if (!hasWorktree) {
        placed.push(request)
        continue
      }
      const pid = await pidOf(parts, request)
      made.push(pid)
      const inOwn = await inWorktree(worktrees, parent, pid, request)
      if (inOwn.cwd !== undefined) await checkModel?.(inOwn.cwd)
      placed.push(inOwn)
    }
    return await register(placed)
  } finally {
    for (const pid of made) await worktrees.settled(pid)
  }
}

/** The worktrees of this program, if all requests may have them. */
async function openedFor(
  { kernel, agents }: ActionParts,
  parent: ProcessRecord,
  children: readonly PlacedRequest[],
): Promise<AgentWorktrees> {
  let refused = await refuseBound(kernel.edges.store, parent)
  for (const { request, hasWorktree } of children) if (hasWorktree) refused ??= refuseRequest(parent, request)
  if (refused !== undefined) throw new RefusedError(refused)
  if (agents?.worktrees !== undefined) return agents.worktrees
  throw new RefusedError(
    refusal(
      'not_available',
      'This program has no data folder, and so no worktrees.',
      'Ask a daemon, or embed Reeve with commands.',
    ),
  )
}

async function pidOf(
  { kernel: { edges }, actor }: ActionParts,
  { pid, idempotencyKey }: Request,
): Promise<Pid> {
  if (pid !== undefined) return pid
  return idempotencyKey === undefined ? edges.newPid() : edges.pidForKey(actor, idempotencyKey)
}

async function inWorktree(
  worktrees: AgentWorktrees,
  parent: ProcessRecord,
  pid: Pid,
  request: Request,
): Promise<Request> {
  const { name = pid, cwd = '' } = request
  const made = await worktrees.make({ pid, name, parent: parent.pid, from: cwd })
  const untyped: unknown = { ...request, pid, cwd: made.cwd, spec: withNote(request.spec, made.branch) }
  return untyped as Request
}

function refuseRequest(parent: ProcessRecord, { cwd, spec }: Request): Refusal | undefined {
  const remedy = 'Ask for paths or for a worktree, of a parent that has a workspace.'
  if (cwd === undefined) return invalidRequest(parent, 'it has no workspace', remedy)
  if (!('paths' in spec)) return undefined
  return invalidRequest(parent, 'an agent with a worktree needs no paths: all of it is its own', remedy)
}

/** A merge would bring changes of files that the parent may not write. */
async function refuseBound(
  store: ActionParts['kernel']['edges']['store'],
  parent: ProcessRecord,
): Promise<Refusal | undefined> {
  for (let record: ProcessRecord | null = parent; record !== null; ) {
    const held = delegatedPaths(record)
    const { pid, cwd } = record
    if (held !== null)
      return refusal(
        'path_held',
        `${pid} may write below ${held.paths.map((path) => shownPath(path, cwd)).join(', ')} only, and a worktree has all files.`,
        'Give the agent paths of these instead.',
        { holder: pid },
      )
    const above: string | null = record.parent
    record = above === null ? null : ((await store.ask({ ask: 'process', pid: above }))?.record ?? null)
  }
  return undefined
}

/** The agent has to know where it is: what it does not commit, its parent gets with the merge. */
function withNote(spec: Request['spec'], branch: string): object {
  const note = `You work in a git worktree of your own, on the branch ${branch}. Your parent merges it when you are done.`
  const before = 'context' in spec && typeof spec.context === 'string' ? `${spec.context}\n\n` : ''
  return { ...spec, context: `${before}${note}` }
}
