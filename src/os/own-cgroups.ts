import { join, posix } from 'node:path'
import { readProc } from './proc-files.ts'

/** The cgroups of this program: its folders in the v2 hierarchy and in the v1 hierarchy that limits memory. */
export interface OwnCgroups {
  readonly unified: string | null
  readonly memoryV1: string | null
}

export function ownCgroups(): OwnCgroups {
  const mounts = readProc('/proc/self/mountinfo')
  const groups = readProc('/proc/self/cgroup')
  if (mounts === null || groups === null) return { unified: null, memoryV1: null }
  return ownCgroupsIn(mounts, groups)
}

/** From the texts of `/proc/self/mountinfo` and `/proc/self/cgroup`. */
export function ownCgroupsIn(mountinfo: string, cgroup: string): OwnCgroups {
  let unified: string | null = null
  let memoryV1: string | null = null
  const paths = pathsIn(cgroup)
  for (const mount of mountsIn(mountinfo)) {
    if (mount.type === 'cgroup2') unified ??= folderIn(mount, paths.get(''))
    if (mount.type === 'cgroup' && mount.options.includes('memory'))
      memoryV1 ??= folderIn(mount, paths.get('memory'))
  }
  return { unified, memoryV1 }
}

interface Mount {
  /** The part of the hierarchy that the mount point shows. */
  readonly root: string
  readonly point: string
  readonly type: string
  readonly options: readonly string[]
}

/** `36 35 0:32 /root /point rw,relatime shared:1 - cgroup cgroup rw,memory`; the number of fields before the dash varies. */
function* mountsIn(mountinfo: string): Generator<Mount> {
  for (const line of mountinfo.split('\n')) {
    const [before, after] = line.split(' - ')
    if (before === undefined || after === undefined) continue
    const [, , , root, point] = before.split(' ')
    const [type, , options] = after.split(' ')
    if (root === undefined || point === undefined || type === undefined || options === undefined) continue
    yield { root: unescaped(root), point: unescaped(point), type, options: options.split(',') }
  }
}

/** By controller; v2 has the empty name. A line is `4:memory:/path` or `0::/path`. */
function pathsIn(cgroup: string): Map<string, string> {
  const paths = new Map<string, string>()
  for (const line of cgroup.split('\n')) {
    const found = /^\d+:([^:]*):(.*)$/.exec(line)
    if (found === null) continue
    for (const controller of found[1]!.split(',')) paths.set(controller, found[2]!)
  }
  return paths
}

/** Null if the group lies outside of the mount; `..` stands for the part that a namespace hides. */
function folderIn(mount: Mount, path: string | undefined): string | null {
  if (path === undefined || path.endsWith(' (deleted)')) return null
  if (`${mount.root}/${path}`.split('/').includes('..')) return null
  const inside = posix.relative(mount.root, path)
  return inside === '..' || inside.startsWith('../') ? null : join(mount.point, inside)
}

/** The kernel writes spaces and the like as three octal digits. */
function unescaped(path: string): string {
  return path.replaceAll(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  )
}
