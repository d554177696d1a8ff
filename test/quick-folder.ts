import { accessSync, constants, readFileSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const IN_MEMORY = '/dev/shm'
const MIN_FREE_BYTES = 2 * 1024 ** 3

/**
 * The folder for stores of tests: in memory, if there is a memory file system. On a disk most tests would wait for each
 * commit, and they test killed processes, not power failures.
 */
export const quickFolder: string = isUsable() ? IN_MEMORY : tmpdir()

function isUsable(): boolean {
  if (process.env['TMPDIR'] !== undefined) return false
  try {
    accessSync(IN_MEMORY, constants.W_OK)
    const { bavail, bsize } = statfsSync(IN_MEMORY)
    const mounted = readFileSync('/proc/mounts', 'utf8').split('\n')
    const options = mounted.findLast((line) => line.split(' ')[1] === IN_MEMORY)?.split(' ')[3] ?? 'noexec'
    return bavail * bsize >= MIN_FREE_BYTES && !options.split(',').includes('noexec')
  } catch {
    return false
  }
}
