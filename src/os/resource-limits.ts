import { readFileSync } from 'node:fs'

/** Soft and hard limit; null: unlimited. */
export type ResourceLimit = [soft: number | null, hard: number | null]

/** By the name that prlimit(1) has for the resource. */
export type ResourceLimits = Record<string, ResourceLimit>

const NAMES: Readonly<Record<string, string>> = {
  'Max cpu time': 'cpu',
  'Max file size': 'fsize',
  'Max data size': 'data',
  'Max stack size': 'stack',
  'Max core file size': 'core',
  'Max resident set': 'rss',
  'Max processes': 'nproc',
  'Max open files': 'nofile',
  'Max locked memory': 'memlock',
  'Max address space': 'as',
  'Max file locks': 'locks',
  'Max pending signals': 'sigpending',
  'Max msgqueue size': 'msgqueue',
  'Max nice priority': 'nice',
  'Max realtime priority': 'rtprio',
  'Max realtime timeout': 'rttime',
}

/** The limits of an OS process. Empty where they cannot be read. */
export function limitsOf(osPid: number | 'self'): ResourceLimits {
  try {
    return limitsIn(readFileSync(`/proc/${osPid}/limits`, 'utf8'))
  } catch {
    // The OS process is gone or another user's, or there is no /proc.
    return {}
  }
}

/** Parses `/proc/<pid>/limits`. */
export function limitsIn(text: string): ResourceLimits {
  const limits = text.split('\n').flatMap((line): [string, ResourceLimit][] => {
    const [, label = '', soft = '', hard = ''] = /^(.+?) {2,}(\S+) +(\S+)/.exec(line) ?? []
    const name = NAMES[label]
    return name === undefined ? [] : [[name, [limitIn(soft), limitIn(hard)]]]
  })
  return Object.fromEntries(limits)
}

function limitIn(text: string): number | null {
  return text === 'unlimited' ? null : Number(text)
}
