import { closeSync, openSync, readSync, statSync, writeSync } from 'node:fs'
import { pino } from 'pino'
import { LineLog, type LogTrouble } from '../base/line-log.ts'
import type { HomePaths } from '../home/paths.ts'
import type { Redaction } from '../redaction/redaction.ts'
import type { Log } from '../server/served.ts'
import { isFileAt, LogRotation } from './log-rotation.ts'
import type { Settings } from './settings.ts'

/** The daemon's own log. */
export interface DaemonLog extends Log {
  /** Why lines wait or were lost; null while all are written. */
  trouble?(): LogTrouble | null
  /** From now on the log file is rotated. Only the daemon that holds the home may do that. */
  startRotation?(): void
}

interface LogTarget {
  readonly level?: Settings['logLevel']
  /** Standard error by default. */
  readonly fd?: number
  /** The file that is open as `fd`, if it is to be rotated. */
  readonly rotated?: string
}

/** Writes JSON lines without secrets. Lines are written synchronously, so that the last lines before a crash are there. */
export function logAt(redaction: Redaction, { level = 'info', fd = 2, rotated }: LogTarget = {}): DaemonLog {
  const file = new LineLog(fd, { lostLine, write: writeSync })
  let rotation: LogRotation | undefined
  const write = (line: string) => {
    // Lines that wait may begin within a line of the file.
    if (file.trouble === null) rotation?.rotateIfFull()
    file.write(redaction.isOn ? redaction.masker().text(line) : line)
  }
  const log = pino({ name: 'reeve', level }, { write })
  return {
    debug: (facts, words) => log.debug(facts, words),
    info: (facts, words) => log.info(facts, words),
    warn: (facts, words) => log.warn(facts, words),
    error: (facts, words) => log.error(facts, words),
    trouble: () => file.trouble,
    startRotation() {
      if (rotated !== undefined) rotation ??= new LogRotation({ path: rotated, fd })
    },
  }
}

function lostLine(lost: number): string {
  const facts = { level: 40, time: Date.now(), pid: process.pid, name: 'reeve', lost }
  return JSON.stringify({ ...facts, msg: 'lines of this log were lost while it could not be written' })
}

/**
 * The default log: standard error, or at a terminal, where a person reads, the log file of the home. A daemon in the background
 * has the log file as its standard error.
 */
export function logOf(home: HomePaths, { logLevel: level }: Settings, redaction: Redaction): DaemonLog {
  if (!process.stderr.isTTY && !isFileAt(home.log, 2)) return logAt(redaction, { level })
  return logAt(redaction, { level, fd: openLog(home), rotated: home.log })
}

/** Opens the log file for appending. */
export function openLog({ log }: HomePaths): number {
  const size = statSync(log, { throwIfNoEntry: false })?.size ?? 0
  const fd = openSync(log, 'a', 0o600)
  if (size > 0) endLastLine(fd, log, size)
  return fd
}

/** A daemon that died on a full disk may have left a part of a line. */
function endLastLine(fd: number, log: string, size: number): void {
  const last = Buffer.alloc(1)
  const reading = openSync(log, 'r')
  try {
    readSync(reading, last, 0, 1, size - 1)
    if (last.toString() !== '\n') writeSync(fd, '\n')
  } catch {
    // The disk is still full: the daemon reports that.
  } finally {
    closeSync(reading)
  }
}
