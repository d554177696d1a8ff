import { randomBytes } from 'node:crypto'
import { existsSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Enough for the files that a daemon and a keeper write at their start. */
export const RESERVE_BYTES = 1024 * 1024

/** Called before a daemon or a keeper starts: on a full disk, the reserve is released, so that the start succeeds. */
export function releaseReserve(path: string): void {
  if (existsSync(path) && freeBytes(dirname(path)) < RESERVE_BYTES) rmSync(path, { force: true })
}

/** Makes the reserve if it is missing and the disk has room for it. */
export function makeReserve(path: string): void {
  if (existsSync(path) || freeBytes(dirname(path)) < 4 * RESERVE_BYTES) return
  const made = `${path}.${process.pid}.new`
  try {
    // Random, because zeros take no space on a file system that compresses.
    writeFileSync(made, randomBytes(RESERVE_BYTES), { mode: 0o600 })
    renameSync(made, path)
  } catch (error) {
    rmSync(made, { force: true })
    throw error
  }
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}
