import { join } from 'node:path'

/**
 * The data folder, which daemon and keeper share. All of it is readable by its user alone.
 *
 * | path                     | content                                                     | written by            |
 * | `home.json`              | `{ id }` of this folder                                     | daemon or keeper      |
 * | `daemon.lock`, `.json`   | locked by the one daemon of this folder; its PID            | daemon                |
 * | `keeper/<protocol>/`     | socket, token, lock and identity of the keeper              | keeper; token: daemon |
 * | `live/<pid>.intent`      | exclusive: it is about to be forked, by which keeper        | keeper                |
 * | `live/<pid>.program`     | the identity of the forked program                          | keeper                |
 * | `live/<pid>.exit`        | how it ended, until the daemon has acknowledged it          | keeper                |
 * | `live/<pid>.left`        | the same of one that is forgotten, while its cgroup is used | keeper                |
 * | `fifos/`                 | `<pid>.out`, `.err`, `.in`, and a few made in advance       | keeper                |
 * | `output/<pid>/`          | its output log (src/output-log/log-format.ts)               | keeper; agents: daemon |
 * | `cursors/<pid>/`         | how far each session has polled                             | daemon                |
 * | `passed/<pid>.<hash>`    | secrets that its client passed by name, or that it printed  | daemon                |
 * | `reserve`                | disk space that is given up to start on a full disk (reserve.ts) | daemon           |
 * | `worktrees/<pid>.json`, `<pid>/` | a git worktree of an agent: the note, which comes first and goes last, and its folder | daemon |
 * | `inherited/<pid>.<hash>` | its caller's environment, while it may be started again     | daemon                |
 */
export interface DataFolderPaths {
  readonly folder: string
  readonly identity: string
  readonly live: string
  readonly fifos: string
  readonly output: string
  readonly cursors: string
  readonly passed: string
  readonly reserve: string
  readonly inherited: string
  readonly daemon: { readonly lock: string; readonly identity: string }
  readonly keeper: KeeperFiles
}

interface KeeperFiles {
  readonly folder: string
  readonly socket: string
  readonly token: string
  readonly lock: string
  readonly identity: string
  readonly log: string
}

export function dataFolderAt(folder: string, protocol: number): DataFolderPaths {
  const keeper = join(folder, 'keeper', String(protocol))
  return {
    folder,
    identity: join(folder, 'home.json'),
    live: join(folder, 'live'),
    fifos: join(folder, 'fifos'),
    output: join(folder, 'output'),
    cursors: join(folder, 'cursors'),
    passed: join(folder, 'passed'),
    reserve: join(folder, 'reserve'),
    inherited: join(folder, 'inherited'),
    daemon: { lock: join(folder, 'daemon.lock'), identity: join(folder, 'daemon.json') },
    keeper: {
      folder: keeper,
      socket: join(keeper, 'socket'),
      token: join(keeper, 'token'),
      lock: join(keeper, 'lock'),
      identity: join(keeper, 'keeper.json'),
      log: join(keeper, 'log'),
    },
  }
}

export function markerOf(homeId: string, pid: string): string {
  return `${pid}@${homeId}`
}
