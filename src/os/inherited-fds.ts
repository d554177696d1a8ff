import { closeSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'

const O_CLOEXEC = 0o2_000_000

/** A descriptor that whoever started this OS process left open. */
export interface InheritedFd {
  readonly fd: number
  /** What it is open on: another one may have its number later. */
  readonly target: string
}

/**
 * Descriptors beyond 2 that every program started here would get, and hold open: another program's locks, pipes, files. Node
 * opens its own so that they end at an exec, and sees to those below 16; so any other that stays open came from outside.
 */
export function inheritedFds(): InheritedFd[] {
  return listed('/proc/self/fd').flatMap((name) => {
    const fd = Number(name)
    try {
      const [, flags = ''] =
        /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${name}`, 'utf8')) ?? []
      const isInherited = fd > 2 && (Number.parseInt(flags, 8) & O_CLOEXEC) === 0
      return isInherited ? [{ fd, target: targetOf(fd) }] : []
    } catch {
      // Closed meanwhile: the one that lists the folder is among them.
      return []
    }
  })
}

export function closeInherited(fds: readonly InheritedFd[]): void {
  for (const { fd, target } of fds) {
    try {
      if (targetOf(fd) === target) closeSync(fd)
    } catch {
      // Gone by itself.
    }
  }
}

function targetOf(fd: number): string {
  return readlinkSync(`/proc/self/fd/${fd}`)
}

/** Empty where there is no /proc: then there are no commands either. */
function listed(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
