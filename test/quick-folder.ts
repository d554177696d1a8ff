import { accessSync, constants, readFileSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const IN_MEMORY = '/dev/shm'
const LEAST_BYTES = 2 * 1024 ** 3

/**
 * Where stores of tests lie: in memory, if there is a file system for that. Most tests wait for the disk otherwise, at each of
 * their commits; and what they are about is the death of processes, not that of machines.
 */
export const quickFolder: string = isUsable() ? IN_MEMORY : tmpdir()

function isUsable(): boolean {
  if (process.env['TMPDIR'] !== undefined) return false
  try {
    accessSync(IN_MEMORY, constants.W_OK)
    const { bavail, bsize } = statfsSync(IN_MEMORY)
    const mounted = readFileSync('/proc/mounts', 'utf8').split('\n')
    const options = mounted.findLast((line) => line.split(' ')[1] === IN_MEMORY)?.split(' ')[3] ?? 'noexec'
    return bavail * bsize >= LEAST_BYTES && !options.split(',').includes('noexec')
  } catch {
    return false
  }
}
