import type { Pid } from '../../core/process/pid.ts'
import { OpenLogs } from '../../output-log/open-logs.ts'
import { LiveLogFiles, type LiveLogFilesOptions } from './live-log-files.ts'
import type { LiveLog, LiveLogs } from './live-logs.ts'

/**
 * Live logs as output logs in the data folder, so that the readers of output logs show, follow, search and mask them. An agent that
 * has none open costs nothing here.
 */
export function openLiveLogs(options: Omit<LiveLogFilesOptions, 'openLogs'>): LiveLogs {
  const openLogs = new OpenLogs(MAX_OPEN_LIVE_LOGS)
  const open = new Map<Pid, { readonly files: LiveLogFiles; users: number }>()
  return {
    open(pid) {
      const log = open.get(pid) ?? { files: new LiveLogFiles(pid, { ...options, openLogs }), users: 0 }
      log.users++
      open.set(pid, log)
      return liveLog(log.files, () => {
        log.users--
        if (log.users > 0) return
        open.delete(pid)
        log.files.close()
      })
    },
  }
}

/** Each has two files open; the least recently written one is closed first, and reopened with its next fragment. */
const MAX_OPEN_LIVE_LOGS = 128

/** An executor that lost its agent and the next one may have the log open at once: both write to the same files. */
function liveLog(files: LiveLogFiles, release: () => void): LiveLog {
  let isClosed = false
  return {
    get end() {
      return files.end
    },
    append(fragment) {
      if (!isClosed) files.append(fragment)
    },
    async flushed() {
      // A fragment is in the page cache when `append` returns.
    },
    close() {
      if (isClosed) return
      isClosed = true
      release()
    },
  }
}
