import { readFileSync } from 'node:fs'
import { limitsIn, type ResourceLimits } from '../keeper/protocol/limits-file.ts'
import type { Inherited } from '../verbs/shapes/inherited.ts'

/** What a program that this one starts would get: environment, umask and resource limits. */
export function ownInheritance(): Inherited {
  const env = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return { env: Object.fromEntries(env), umask: process.umask(), rlimits: limitsOfCaller() }
}

/**
 * Node raises the soft limit of open files to the hard one when it starts. So that limit is the one of the program that started
 * this one.
 */
function limitsOfCaller(): ResourceLimits {
  const own = limitsOf('self')
  const { nofile } = own
  const [soft = null] = limitsOf(callerOsPid())['nofile'] ?? nofile ?? []
  if (nofile === undefined || soft === null) return own
  const [, hard] = nofile
  return { ...own, nofile: [hard === null ? soft : Math.min(soft, hard), hard] }
}

/** Under an older Node the launcher starts this program with the same words: its own parent is the caller then. */
function callerOsPid(): number {
  const words = wordsOf(process.pid).slice(-process.argv.length + 2)
  const ofParent = wordsOf(process.ppid)
  const isLauncher =
    /(^|\/)node[^/]*$/.test(ofParent[0] ?? '') &&
    ofParent.some((word) => /(^|\/)reeve(\.mjs)?$/.test(word)) &&
    ofParent.slice(-words.length).join('\0') === words.join('\0')
  return isLauncher ? parentOf(process.ppid) : process.ppid
}

function limitsOf(osPid: number | 'self'): ResourceLimits {
  return limitsIn(readProc(`/proc/${osPid}/limits`))
}

function wordsOf(osPid: number): string[] {
  return readProc(`/proc/${osPid}/cmdline`).split('\0').slice(0, -1)
}

function parentOf(osPid: number): number {
  const stat = readProc(`/proc/${osPid}/stat`)
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
}

/** Empty where the system does not say. */
function readProc(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
