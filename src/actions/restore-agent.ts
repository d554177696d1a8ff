import { notRestorable, refuseRestore } from '../core/agent/earlier-logs.ts'
import { RefusedError } from '../core/errors.ts'
import { awaitsApproval } from '../core/process/gate.ts'
import { takesChildren } from '../core/process/parent.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor, ProcessRecord } from '../core/process/record.ts'
import { otherRestart } from '../core/process/restart-policy.ts'
import { restartRequest } from '../core/process/restart-request.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import type { Registering } from '../kernel/register.ts'
import type { OutputOf, ParsedInputOf } from '../verbs/reeve.ts'
import { type ActionParts, type ActionsFor, readerFor, throwIfRefused } from './action.ts'
import type { AgentFacts } from './agent-facts.ts'
import { registerAll, spawnAnswer } from './spawn.ts'
import { whenUp } from './spawn-agent.ts'

/** Ended agents whose sessions go on. The rules are in `core/agent/earlier-logs.ts`. */
export function restoreAgentActions(parts: ActionParts): ActionsFor<'restoreAgent'> {
  const { kernel, actor, commands, agents } = parts
  const { edges } = kernel
  const read = readerFor(parts, 'restoreAgent')

  const restoredUnder = async (key: string): Promise<ProcessRecord | null> => {
    const pid = await edges.pidForKey(actor, key)
    return (await edges.store.ask({ ask: 'process', pid })) === null ? null : read(pid)
  }

  return {
    async restoreAgent({ pid, goal, idempotencyKey }): Promise<OutputOf<'restoreAgent'>> {
      const begun = idempotencyKey === undefined ? null : await restoredUnder(idempotencyKey)
      if (begun !== null) {
        throwIfRefused(otherRestart(begun, pid))
        return { type: 'existing', record: begun }
      }
      const old = await read(pid)
      throwIfRefused(refuseRestore(old))
      if (agents === undefined) throw new RefusedError(noAgents())
      if (!kernel.isHere(old.placement)) throw new RefusedError(elsewhere(old))
      const parent = old.parent === null ? null : await edges.store.ask({ ask: 'process', pid: old.parent })
      await refuseWithoutFolder(agents, old)
      const { request, more } = requestFor(old, parent?.record ?? null, actor, goal)
      const key = idempotencyKey === undefined ? {} : { idempotencyKey }
      const to = idempotencyKey === undefined ? edges.newPid() : await edges.pidForKey(actor, idempotencyKey)
      const record = await inWorktreeOf(agents, old.pid, to, async () => {
        const requests = [{ ...request, ...key, pid: to }]
        const [registered] = await registerAll(kernel, commands, actor, requests, { more: [more] })
        return spawnAnswer(registered).record
      })
      if (awaitsApproval(record)) return { type: 'asked', record }
      return { type: 'started', record: goal === undefined ? record : await whenUp(kernel, record) }
    },
  }
}

/** Registers an agent that goes on in the worktree of another one, if that has one. */
async function inWorktreeOf<Answer>(
  { worktrees }: AgentFacts,
  from: Pid,
  to: Pid,
  register: () => Promise<Answer>,
): Promise<Answer> {
  if ((await worktrees?.handOver(from, to)) !== true) return register()
  try {
    return await register()
  } finally {
    await worktrees?.settled(to)
  }
}

/** Its worktree, for one, was removed when all of its work was merged. */
async function refuseWithoutFolder(agents: AgentFacts, old: ProcessRecord): Promise<void> {
  const { pid, cwd } = old
  if (cwd === null) return
  try {
    await agents.folderIn(old, cwd)
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error
    throw new RefusedError(
      notRestorable(
        pid,
        `its folder ${cwd} is gone`,
        'Start another agent, with what is left to do as its goal.',
      ),
    )
  }
}

/** A child goes back below its parent. Below one that has ended, a person makes it an agent of its own, under the same ceilings. */
function requestFor(
  old: ProcessRecord,
  parent: ProcessRecord | null,
  actor: Actor,
  goal: string | undefined,
): { readonly request: ParsedInputOf<'spawn'>; readonly more: Partial<Registering> } {
  const restart = restartRequest(old, parent)
  const { goal: _, context: __, ...spec } = restart.spec
  const isAlone = old.parent !== null && (parent === null || !takesChildren(parent))
  if (isAlone && actor !== 'host' && !actor.startsWith('human:'))
    throw new RefusedError(parentGone(old.pid, old.parent))
  const { owner, lifetime, ...rest } = restart
  const request = {
    ...(isAlone ? rest : { ...rest, owner, lifetime }),
    spec: { ...spec, ...(goal === undefined ? {} : { goal }) },
  }
  const kept = isAlone && old.ceilings !== undefined ? { ceilings: old.ceilings } : {}
  const untyped: unknown = request
  return { request: untyped as ParsedInputOf<'spawn'>, more: { continuesSession: true, ...kept } }
}

function parentGone(pid: Pid, parent: Pid | null): Refusal {
  return notRestorable(
    pid,
    `its parent ${parent} has ended`,
    'Restore the parent, or have a person restore it as an agent of its own.',
  )
}

function elsewhere({ pid, placement }: ProcessRecord): Refusal {
  return refusal(
    'owned_elsewhere',
    `${pid} belongs to ${placement}, and its folder is there.`,
    'Ask the daemon of that machine.',
  )
}

function noAgents(): Refusal {
  return refusal('not_available', 'This program drives no agents.', 'Ask a daemon that does.')
}
