import { readFileSync } from 'node:fs'
import { limitsIn, type ResourceLimits } from '../keeper/protocol/limits-file.ts'
import type { Inherited } from '../verbs/shapes/inherited.ts'

/** The environment, umask and resource limits that a program started by this one would get. */
export function ownInheritance(): Inherited {
  const env = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return { env: Object.fromEntries(env), umask: process.umask(), rlimits: limitsOfCaller() }
}

/**
 * Node raises its soft limit of open files to the hard limit when it starts, so that limit is read from the program that started
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

/** Under an older Node the launcher starts this program with the same arguments: then the launcher's parent is the caller. */
function callerOsPid(): number {
  const args = argumentsOf(process.pid).slice(-process.argv.length + 2)
  const parentArgs = argumentsOf(process.ppid)
  const isLauncher =
    /(^|\/)node[^/]*$/.test(parentArgs[0] ?? '') &&
    parentArgs.some((arg) => /(^|\/)reeve(\.mjs)?$/.test(arg)) &&
    parentArgs.slice(-args.length).join('\0') === args.join('\0')
  return isLauncher ? parentOf(process.ppid) : process.ppid
}

function limitsOf(osPid: number | 'self'): ResourceLimits {
  return limitsIn(readProc(`/proc/${osPid}/limits`))
}

function argumentsOf(osPid: number): string[] {
  return readProc(`/proc/${osPid}/cmdline`).split('\0').slice(0, -1)
}

function parentOf(osPid: number): number {
  const stat = readProc(`/proc/${osPid}/stat`)
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
}

/** Empty on a system without /proc. */
function readProc(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
