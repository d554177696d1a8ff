import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { type Home, MARKER } from '../keeper/protocol/home.ts'
import { releaseReserve } from '../keeper/protocol/reserve.ts'
import { ownProgram } from '../package/own-files.ts'

/** What a keeper makes is short-lived: without this it would come to have 100 MB more, at no gain that could be measured. */
const SMALL_YOUNG_SPACE = '--max-semi-space-size=2'

/** In a session of its own, so that nothing which ends the daemon ends it. Answers with why it ended, once it has. */
export function startKeeper(home: Home): () => string | undefined {
  releaseReserve(home.reserve)
  const main = ownProgram('keeper/main')
  // One that was started by a command is no part of it by its marker. By its cgroup, or by its parents while those live, it is.
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
