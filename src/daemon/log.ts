import { openSync, renameSync, statSync } from 'node:fs'
import { pino } from 'pino'
import type { HomePaths } from '../client/home.ts'
import { Redaction } from '../redaction/redaction.ts'
import { isSecretName } from '../redaction/secret-name.ts'
import type { Log } from '../server/served.ts'
import type { Settings } from './settings.ts'

const MOST_LOG_BYTES = 10 * 1024 * 1024

type LogSettings = Pick<Settings, 'logLevel' | 'redact' | 'redactValues' | 'store'>

/** JSON lines, without secrets. Written at once, so that the last words of a daemon that dies are there. */
export function logAt(settings: Partial<LogSettings>, fd = 2): Log {
  const file = pino.destination({ fd, sync: true })
  const { logLevel = 'info', redact = true } = settings
  if (!redact) return pino({ name: 'reeve', level: logLevel }, file)
  const redaction = new Redaction({ values: secretsOf(settings) })
  const write = (line: string) => file.write(redaction.masker().text(line))
  return pino({ name: 'reeve', level: logLevel }, { write })
}

/** Where a daemon logs of which nobody said it: stderr; but at a terminal, where a person reads, a file in its home. */
export function logOf(home: HomePaths, settings: LogSettings): Log {
  return logAt(settings, process.stderr.isTTY ? openLog(home) : 2)
}

/** The log file, after the last one was put aside if it had grown too large. One is kept. */
export function openLog({ log }: HomePaths): number {
  const size = statSync(log, { throwIfNoEntry: false })?.size ?? 0
  if (size > MOST_LOG_BYTES) renameSync(log, `${log}.1`)
  return openSync(log, 'a', 0o600)
}

/** Its own environment, as it was started with, and what it was told to keep quiet about. */
function secretsOf({ redactValues = [], store = null }: Partial<LogSettings>): string[] {
  const own = Object.entries(process.env).flatMap(([name, value]) =>
    value !== undefined && isSecretName(name) ? [value] : [],
  )
  const password = store !== null && URL.canParse(store) ? new URL(store).password : ''
  return [...own, ...redactValues, password]
}
