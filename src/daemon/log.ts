import { openSync, renameSync, statSync } from 'node:fs'
import { pino } from 'pino'
import type { HomePaths } from '../client/home.ts'
import type { Redaction } from '../redaction/redaction.ts'
import type { Log } from '../server/served.ts'
import type { Settings } from './settings.ts'

const MOST_LOG_BYTES = 10 * 1024 * 1024

/** JSON lines, without secrets. Written at once, so that the last words of a daemon that dies are there. */
export function logAt(redaction: Redaction, level: Settings['logLevel'] = 'info', fd = 2): Log {
  const file = pino.destination({ fd, sync: true })
  if (!redaction.isOn) return pino({ name: 'reeve', level }, file)
  const write = (line: string) => file.write(redaction.masker().text(line))
  return pino({ name: 'reeve', level }, { write })
}

/** Where a daemon logs of which nobody said it: stderr; but at a terminal, where a person reads, a file in its home. */
export function logOf(home: HomePaths, { logLevel }: Settings, redaction: Redaction): Log {
  return logAt(redaction, logLevel, process.stderr.isTTY ? openLog(home) : 2)
}

/** The log file, after the last one was put aside if it had grown too large. One is kept. */
export function openLog({ log }: HomePaths): number {
  const size = statSync(log, { throwIfNoEntry: false })?.size ?? 0
  if (size > MOST_LOG_BYTES) renameSync(log, `${log}.1`)
  return openSync(log, 'a', 0o600)
}
