import { invalidRequest } from '../core/agent/refusals.ts'
import { RefusedError } from '../core/errors.ts'
import { delegatedPaths } from '../core/lien/lien.ts'
import { shownPath } from '../core/lien/shown-path.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import type { ParsedInputOf } from '../verbs/reeve.ts'
import type { ActionParts } from './action.ts'

type Request = ParsedInputOf<'spawn'>

/**
 * Registers an agent whose workspace is a git worktree of its own. The worktree is noted, then made, then the agent is registered: a crash in
 * between leaves a worktree that is listed and cleaned up, and never an agent without one.
 */
export async function registerInWorktree<Answer>(
  { kernel, actor, agents }: ActionParts,
  parent: ProcessRecord,
  request: Request,
  register: (request: Request) => Promise<Answer>,
): Promise<Answer> {
  const refused = (await refuseBound(kernel.edges.store, parent)) ?? refuseRequest(parent, request)
  if (refused !== undefined) throw new RefusedError(refused)
  const worktrees = agents?.worktrees
  if (worktrees === undefined)
    throw new RefusedError(
      refusal(
        'not_available',
        'This program has no data folder, and so no worktrees.',
        'Ask a daemon, or embed Reeve with commands.',
      ),
    )
  const { edges } = kernel
  const { idempotencyKey, name, cwd = '' } = request
  const keyed = idempotencyKey === undefined ? edges.newPid() : await edges.pidForKey(actor, idempotencyKey)
  const pid = request.pid ?? keyed
  const made = await worktrees.make({ pid, name: name ?? pid, parent: parent.pid, from: cwd })
  try {
    const untyped: unknown = { ...request, pid, cwd: made.cwd, spec: withNote(request.spec, made.branch) }
    return await register(untyped as Request)
  } finally {
    await worktrees.settled(pid)
  }
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
