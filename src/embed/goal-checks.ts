import { spawnChild } from '../actions/spawn.ts'
import type { CheckedCommand, GoalCommand } from '../agent/agent-parts.ts'
import { agentSessionOf } from '../core/agent/session.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Work } from '../kernel/executor.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { type ReeveVerbs, verbs } from '../verbs/reeve.ts'

/** The last lines say why a check failed. */
const CHECK_LINES = 40

/** Runs the check of a goal as a command below its agent. Null: the signal was aborted before the command ended. */
export async function runGoalCheck(
  kernel: Kernel,
  actAs: (actor: `process:${string}`) => ReeveVerbs,
  work: Work,
  { run, key, turn, signal }: GoalCommand & { readonly signal: AbortSignal },
): Promise<CheckedCommand | null> {
  const { pid, cwd } = work.record
  const request = {
    kind: 'command',
    spec: { run },
    parent: pid,
    owner: { session: agentSessionOf(pid) },
    label: 'check of the goal',
    ...(cwd === null ? {} : { cwd }),
    idempotencyKey: key,
  } as const
  const command = await spawnChild(kernel, work, verbs.spawn.input.parse(request))
  const ended = await kernel.waits.forEnd(command.pid, { signal, waiter: work })
  if (ended.type !== 'done') {
    await stopCheck(kernel, { agent: pid, turn, command: command.pid })
    return null
  }
  const { outcome } = ended.value.record
  const { lines } = await actAs(`process:${pid}`).log({ pid: command.pid, limit: CHECK_LINES })
  const output = lines.map(({ text }) => text).join('\n')
  return { pid: command.pid, succeeded: outcome?.status === 'completed', output }
}

/** A paused turn, and one that another holder goes on with, find their check again. */
async function stopCheck(
  kernel: Kernel,
  { agent, turn, command }: { readonly agent: Pid; readonly turn: number; readonly command: Pid },
): Promise<void> {
  const row = await kernel.edges.store.ask({ ask: 'process', pid: agent })
  if (row?.record.agent?.turn?.number === turn) return
  const asked = { pid: command, actor: `kernel:${kernel.id}`, at: kernel.edges.clock.now() } as const
  const reason = `turn ${turn} of ${agent} has ended`
  await kernel.perform({ type: 'stop', ...asked, how: 'cancel', reason, cause: null, replayKey: 'check' })
}
