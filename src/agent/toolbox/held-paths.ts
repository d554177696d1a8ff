import { delegatedPaths } from '../../core/lien/lien.ts'
import { refuseWrite } from '../../core/lien/refuse-write.ts'
import type { Pid } from '../../core/process/pid.ts'
import { hasEnded, type ProcessRecord } from '../../core/process/record.ts'
import type { Refusal } from '../../core/refusal.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { ToolError } from '../tools/agent-tool.ts'

/**
 * Throws if the agent may not write this canonical path now: another agent has it, or the agent has paths of its own elsewhere. A call that
 * this kernel no longer holds writes nothing: the agent may have ended since, and its paths may be those of another.
 */
export async function checkWrite(kernel: Kernel, agent: Pid, call: Pid, path: string): Promise<void> {
  const running = await kernel.edges.store.ask({ ask: 'process', pid: call })
  if (running !== null && (hasEnded(running.record) || running.holder !== kernel.id))
    throw new ToolError('refused', 'The call was stopped before its write, and nothing was written.')
  const refused = (await refuseWrites(kernel, agent, [path]))[0]
  if (refused !== undefined)
    throw new ToolError('path_held', `${refused.message} ${refused.remedy}`, refused.details)
}

/** Why an agent may not write these canonical paths now. */
export async function refuseWrites(
  kernel: Kernel,
  agent: Pid,
  paths: readonly string[],
): Promise<readonly Refusal[]> {
  const line = await lineOf(kernel, agent)
  const host = line.map((record) => delegatedPaths(record)?.host).find((found) => found !== undefined)
  const row = await kernel.edges.store.ask({ ask: 'liens', host: host ?? hostOf(kernel) })
  return paths.flatMap((path) => refuseWrite(row, line, path) ?? [])
}

/** The key of the liens of this machine. */
function hostOf(kernel: Kernel): string {
  return kernel.host ?? ''
}

/** The agent and the processes above it, the nearest first. */
async function lineOf({ edges }: Kernel, agent: Pid): Promise<readonly ProcessRecord[]> {
  const line: ProcessRecord[] = []
  for (let pid: Pid | null = agent; pid !== null; ) {
    const row: { readonly record: ProcessRecord } | null = await edges.store.ask({ ask: 'process', pid })
    if (row === null) break
    line.push(row.record)
    pid = row.record.parent
  }
  return line
}
