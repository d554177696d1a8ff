import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isPid, type Pid } from '../../core/process/pid.ts'
import type { ProcessRecord } from '../../core/process/record.ts'

/** One request of one caller. Callers choose pids, so that a pid alone says nothing about who passed a value. */
export type PassedBy = Pick<ProcessRecord, 'pid' | 'originator' | 'registrationHash'>

/**
 * The name of a file contains a hash of the caller and the request: a request that is refused, or that another caller makes
 * for the same pid, has another file, which no command of the first one reads.
 */
export function fileNameOf({ pid, originator, registrationHash }: PassedBy): string {
  if (!isPid(pid)) throw new Error(`${JSON.stringify(pid)} is no pid.`)
  const caller = createHash('sha256')
    .update(JSON.stringify([originator, registrationHash]))
    .digest('hex')
  return `${pid}.${caller}`
}

export function pidIn(name: string): Pid {
  return name.slice(0, name.indexOf('.'))
}

/** Writes a file that its user alone can read. It is on disk, whole, when this resolves. */
export async function writePrivately(folder: string, name: string, text: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true, mode: 0o700 })
  if (made !== undefined) await syncFolder(dirname(made))
  const unfinished = join(folder, `.${randomUUID()}`)
  try {
    const handle = await open(unfinished, 'wx', 0o600)
    try {
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(unfinished, join(folder, name))
    await syncFolder(folder)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}

/** So that a name in it survives a power cut. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
