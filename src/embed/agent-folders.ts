import { realpath } from 'node:fs/promises'
import { messageOf } from '../base/error-text.ts'
import { invalidRequest } from '../core/agent/refusals.ts'
import { RefusedError } from '../core/errors.ts'
import type { ProcessRecord } from '../core/process/record.ts'

/** The canonical path of a folder inside the workspace of an agent. */
export async function folderIn(agent: ProcessRecord, folder: string): Promise<string> {
  const { cwd } = agent
  if (cwd === null) throw outside(agent, 'it has no workspace', folder)
  const { resolveIn } = await import('../agent/tools/files/workspace-path.ts')
  const root = await realpath(cwd).catch(() => cwd)
  const found = await resolveIn(root, folder).catch((error: unknown) => {
    throw outside(agent, messageOf(error).replace(/\.$/, ''), folder)
  })
  if (found.isInside) return found.real
  throw outside(agent, `${folder} is outside of its workspace ${root}`, folder)
}

function outside(agent: ProcessRecord, problem: string, path: string): RefusedError {
  const refused = invalidRequest(agent, problem, 'Name a folder inside the workspace of the parent.')
  return new RefusedError({ ...refused, details: { path } })
}
