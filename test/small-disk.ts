import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { tempFolder } from './temp-file.ts'

/** Whether this user may mount a small disk. */
export const canMount = (() => {
  if (process.getuid?.() !== 0) return false
  const probe = spawnSync('sh', ['-c', 'd=$(mktemp -d) && mount -t tmpfs none $d && umount $d && rmdir $d'])
  return probe.status === 0
})()

/** A small file system of its own that can be filled, for one test. */
export class SmallDisk {
  readonly folder: string
  readonly #ballast: string

  constructor(bytes: number) {
    this.folder = tempFolder()
    this.#ballast = join(this.folder, 'ballast')
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=700`, 'reeve-test', this.folder])
    // Runs before the folder is removed. Lazily, because a test that failed may have left something there.
    onTestFinished(() => void spawnSync('umount', ['-l', this.folder]))
  }

  get freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.folder)
    return bavail * bsize
  }

  /** Until not a byte more is taken. */
  fill(): void {
    fillUp(this.#ballast)
  }

  makeRoom(): void {
    rmSync(this.#ballast, { force: true })
  }
}

/** Appends to a file until the disk takes nothing any more. */
export function fillUp(path: string): void {
  const fd = openSync(path, 'a')
  const block = Buffer.alloc(64 * 1024)
  try {
    for (;;) writeSync(fd, block)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  } finally {
    closeSync(fd)
  }
}
