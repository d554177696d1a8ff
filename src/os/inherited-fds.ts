import { closeSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'

const O_CLOEXEC = 0o2_000_000

/** A descriptor that the parent of this OS process left open. */
export interface InheritedFd {
  readonly fd: number
  /** The open file: the number may belong to another file later. */
  readonly target: string
}

/**
 * Descriptors above 2 that every program started here would inherit: locks, pipes and files of another program. Node opens its
 * own descriptors with close-on-exec, and closes those below 16; so any other descriptor without that flag came from outside.
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
      // Closed meanwhile, like the descriptor that lists the folder.
      return []
    }
  })
}

export function closeInherited(fds: readonly InheritedFd[]): void {
  for (const { fd, target } of fds) {
    try {
      if (targetOf(fd) === target) closeSync(fd)
    } catch {
      // Closed already.
    }
  }
}

function targetOf(fd: number): string {
  return readlinkSync(`/proc/self/fd/${fd}`)
}

/** Empty without /proc: then there are no commands either. */
function listed(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
