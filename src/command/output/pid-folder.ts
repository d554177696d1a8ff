import { join } from 'node:path'
import { isPid, type Pid } from '../../core/process/pid.ts'

/** The folder of one process below another. What is no pid would lead elsewhere, and folders are deleted by this name. */
export function folderOf(folder: string, pid: Pid): string {
  if (!isPid(pid)) throw new Error(`${JSON.stringify(pid)} is no pid, so it has no folder below ${folder}.`)
  return join(folder, pid)
}
