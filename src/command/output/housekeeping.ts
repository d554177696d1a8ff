import { readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isPid, type Pid } from '../../core/process/pid.ts'
import { orMissing } from './missing.ts'
import { folderOf } from './pid-folder.ts'

export interface PruneOptions {
  /** The cap of all logs together. */
  readonly totalBytes: number
  /** Which of these processes have ended, those that ended longest ago first. */
  readonly finished: (pids: readonly Pid[]) => Promise<readonly Pid[]>
}

export interface PruneReport {
  readonly dropped: readonly Pid[]
  readonly freedBytes: number
  /** The size of all logs now. It may still exceed the cap: running processes keep their logs. */
  readonly totalBytes: number
}

/** Deletes logs of ended commands, oldest end first, until the total size is within the limit. */
export async function pruneOutput(outputFolder: string, options: PruneOptions): Promise<PruneReport> {
  await finishDrops(outputFolder)
  const sizes = await sizesOf(outputFolder)
  let total = [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0)
  const before = total
  const dropped: Pid[] = []
  if (total > options.totalBytes)
    for (const pid of await options.finished([...sizes.keys()])) {
      if (total <= options.totalBytes) break
      const bytes = sizes.get(pid)
      if (bytes === undefined || dropped.includes(pid)) continue
      await dropOutput(outputFolder, pid)
      dropped.push(pid)
      total -= bytes
    }
  return { dropped, freedBytes: before - total, totalBytes: total }
}

/** The size of each log on disk. */
export async function sizesOf(outputFolder: string): Promise<Map<Pid, number>> {
  const sizes = new Map<Pid, number>()
  for (const pid of await namesIn(outputFolder)) {
    if (!isPid(pid)) continue
    let bytes = 0
    for (const name of await namesIn(join(outputFolder, pid))) {
      const file = await orMissing(stat(join(outputFolder, pid, name)))
      // By blocks: ranges that were freed in place still count in a file's size, and a small file takes a whole block.
      if (file !== null) bytes += Math.min(file.size, file.blocks * STAT_BLOCK_BYTES)
    }
    sizes.set(pid, bytes)
  }
  return sizes
}

export async function pidsWithOutput(outputFolder: string): Promise<Pid[]> {
  return (await namesIn(outputFolder)).filter(isPid)
}

/** Deletes one log. A reader finds it whole, or not at all: it goes by one rename, and then file by file. */
export async function dropOutput(outputFolder: string, pid: Pid): Promise<void> {
  const folder = folderOf(outputFolder, pid)
  const moved = `${folder}${DROPPED}`
  await rm(moved, { recursive: true, force: true })
  if ((await orMissing(rename(folder, moved).then(() => true))) === null) return
  await rm(moved, { recursive: true, force: true })
}

const DROPPED = '.dropped'
const STAT_BLOCK_BYTES = 512

/** Logs that a dead daemon left half deleted. */
async function finishDrops(outputFolder: string): Promise<void> {
  for (const name of await namesIn(outputFolder))
    if (name.endsWith(DROPPED)) await rm(join(outputFolder, name), { recursive: true, force: true })
}

async function namesIn(folder: string): Promise<string[]> {
  return (await orMissing(readdir(folder))) ?? []
}
