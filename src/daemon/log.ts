import { closeSync, openSync, readSync, renameSync, statSync, writeSync } from 'node:fs'
import { pino } from 'pino'
import type { HomePaths } from '../client/home.ts'
import { LineLog, type LogTrouble } from '../keeper/line-log.ts'
import type { Redaction } from '../redaction/redaction.ts'
import type { Log } from '../server/served.ts'
import type { Settings } from './settings.ts'

const MAX_LOG_BYTES = 10 * 1024 * 1024

/** The daemon's own log. */
export interface DaemonLog extends Log {
  /** Why lines wait or were lost; null while all are written. */
  trouble?(): LogTrouble | null
}

/** JSON lines, without secrets. Written at once, so that the last words of a daemon that dies are there. */
export function logAt(redaction: Redaction, level: Settings['logLevel'] = 'info', fd = 2): DaemonLog {
  const file = new LineLog(fd, { lostLine })
  const write = (line: string) => file.write(redaction.isOn ? redaction.masker().text(line) : line)
  const log = pino({ name: 'reeve', level }, { write })
  return {
    debug: (facts, words) => log.debug(facts, words),
    info: (facts, words) => log.info(facts, words),
    warn: (facts, words) => log.warn(facts, words),
    error: (facts, words) => log.error(facts, words),
    trouble: () => file.trouble,
  }
}

function lostLine(lost: number): string {
  const facts = { level: 40, time: Date.now(), pid: process.pid, name: 'reeve', lost }
  return JSON.stringify({ ...facts, msg: 'lines of this log were lost while it could not be written' })
}

/** The default log destination: stderr; but at a terminal, where a person reads, a file in its home. */
export function logOf(home: HomePaths, { logLevel }: Settings, redaction: Redaction): DaemonLog {
  return logAt(redaction, logLevel, process.stderr.isTTY ? openLog(home) : 2)
}

/** The log file, after the last one was put aside if it had grown too large. One is kept. */
export function openLog({ log }: HomePaths): number {
  const size = statSync(log, { throwIfNoEntry: false })?.size ?? 0
  if (size > MAX_LOG_BYTES) renameSync(log, `${log}.1`)
  const fd = openSync(log, 'a', 0o600)
  if (size > 0 && size <= MAX_LOG_BYTES) endLastLine(fd, log, size)
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
    // It is as full as before: the daemon says so.
  } finally {
    closeSync(reading)
  }
}
