import { join } from 'node:path'
import { isPid, type Pid } from '../../core/process/pid.ts'

/** The folder of one process below another. Throws for an invalid pid, which could name a folder elsewhere to be deleted. */
export function folderOf(folder: string, pid: Pid): string {
  if (!isPid(pid)) throw new Error(`${JSON.stringify(pid)} is no pid, so it has no folder below ${folder}.`)
  return join(folder, pid)
}
