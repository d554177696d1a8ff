import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** Whether this user may mount a small disk. */
export const canMount = (() => {
  if (process.getuid?.() !== 0) return false
  const probe = spawnSync('sh', ['-c', 'd=$(mktemp -d) && mount -t tmpfs none $d && umount $d && rmdir $d'])
  return probe.status === 0
})()

/** A small file system that can be filled, mounted on an empty folder until it is unmounted. */
export class SmallDisk {
  readonly folder: string
  readonly #ballast: string

  constructor(folder: string, bytes: number) {
    this.folder = folder
    this.#ballast = join(folder, 'ballast')
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=700`, 'reeve-test', folder])
  }

  get freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.folder)
    return bavail * bsize
  }

  /** Until not a byte more is taken. */
  fill(): void {
    const fd = openSync(this.#ballast, 'a')
    const block = Buffer.alloc(64 * 1024)
    try {
      for (;;) writeSync(fd, block)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    } finally {
      closeSync(fd)
    }
  }

  makeRoom(): void {
    rmSync(this.#ballast, { force: true })
  }

  /** Lazily, because a test that failed may have left something open there. */
  unmount(): void {
    spawnSync('umount', ['-l', this.folder])
  }
}
