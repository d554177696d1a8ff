import { pino } from 'pino'
import type { Log } from '../server/served.ts'
import type { Settings } from './settings.ts'

/** JSON lines to stderr. Written at once, so that the last words of a daemon that dies are there. */
export function logAt(level: Settings['logLevel'], fd = 2): Log {
  return pino(
    { name: 'reeve', level, redact: { paths: ['token', '*.token', 'authorization'], censor: '…' } },
    pino.destination({ fd, sync: true }),
  )
}
