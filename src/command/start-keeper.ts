import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import type { DataFolderPaths } from '../keeper/protocol/data-folder-paths.ts'
import { releaseReserve } from '../keeper/protocol/reserve.ts'
import { MARKER } from '../os/program-marks.ts'
import { ownProgram } from '../package/own-files.ts'

/** A keeper's objects are short-lived: a larger young generation costs 100 MB, and gains nothing measurable. */
const SMALL_YOUNG_SPACE = '--max-semi-space-size=2'

/** Starts a keeper in a session of its own, so that it outlives the daemon. The function returned says why it ended, if it has. */
export function startKeeper(home: DataFolderPaths): () => string | undefined {
  releaseReserve(home.reserve)
  const main = ownProgram('keeper/main')
  // Without the marker, a keeper that a command started is not found as a part of that command, except by its cgroup and, while
  // they live, by its parents.
  const { [MARKER]: _, ...env } = process.env
  const log = openSync(home.keeper.log, 'a', 0o600)
  let ended: string | undefined
  try {
    const flags = ['--disable-warning=ExperimentalWarning', SMALL_YOUNG_SPACE]
    const keeper = spawn(process.execPath, [...flags, main, home.folder], {
      cwd: '/',
      detached: true,
      env,
      stdio: ['ignore', log, log],
    })
    keeper.on('error', (error) => {
      ended = error.message
    })
    keeper.on('exit', (code, signal) => {
      // 75: another keeper has the folder; that one will answer.
      if (code !== 75) ended = `it ended at once (${signal ?? `exit code ${code}`}), see ${home.keeper.log}`
    })
    keeper.unref()
  } finally {
    closeSync(log)
  }
  return () => ended
}
