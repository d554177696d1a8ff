import type { Pid } from '../../core/process/pid.ts'
import { OpenLogs } from '../../output-log/open-logs.ts'
import { LiveLogFiles, type LiveLogFilesOptions } from './live-log-files.ts'
import type { LiveLog, LiveLogs } from './live-logs.ts'

/**
 * Live logs as output logs in the data folder, so that the readers of output logs show, follow, search and mask them. An agent that
 * has none open costs nothing here.
 */
export function openLiveLogs(options: LiveLogsOptions): LiveLogs {
  const openLogs = new OpenLogs(options.maxOpen)
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

export interface LiveLogsOptions extends Omit<LiveLogFilesOptions, 'openLogs'> {
  /**
   * Each log has two files open; beyond this number the least recently written one is closed, and reopened with its next fragment. With more
   * agents at work than that, every fragment would reopen files.
   */
  readonly maxOpen: number
}

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
