import { readdirSync, readFileSync } from 'node:fs'
import { MARKER } from '../protocol/home.ts'
import { ownLine } from './own-line.ts'
import { isForbidden, isGone, type ProcStat, readProc, statOf } from './stat.ts'

/** Passes that are tried until one is whole, and looks at newborns in each; a look takes microseconds. */
const PASSES = 3
const NEWBORN_LOOKS = 200

/** Numbers that the system hands out during one look. More means that it has begun from the start again. */
const MOST_NEWBORNS = 10_000

/**
 * All OS processes of one moment, which every question about that moment can share. It is read in one pass over /proc,
 * and then, until there are no more, by the numbers that the system has handed out meanwhile: who is born during the pass,
 * while its parent ends, is not overlooked.
 */
export class ProcTable {
  readonly processes: ReadonlyMap<number, ProcStat>
  /** False: processes were born faster than they could be read, and one may be missing. */
  readonly isWhole: boolean
  readonly #childrenOf = new Map<number, number[]>()
  readonly #markersOf = new Map<number, readonly string[]>()
  #ownLine: ReadonlySet<number> | undefined

  static read(): ProcTable {
    const processes = new Map<number, ProcStat>()
    for (let pass = 0; pass < PASSES; pass++) {
      processes.clear()
      if (readPass(processes)) return new ProcTable(processes, true)
    }
    return new ProcTable(processes, false)
  }

  constructor(processes: ReadonlyMap<number, ProcStat>, isWhole: boolean) {
    this.processes = processes
    this.isWhole = isWhole
    for (const [osPid, { ppid }] of processes) {
      const siblings = this.#childrenOf.get(ppid)
      if (siblings === undefined) this.#childrenOf.set(ppid, [osPid])
      else siblings.push(osPid)
    }
  }

  childrenOf(osPid: number): readonly number[] {
    return this.#childrenOf.get(osPid) ?? []
  }

  get ownLine(): ReadonlySet<number> {
    this.#ownLine ??= ownLine()
    return this.#ownLine
  }

  /** Read when first asked for: most processes never are. */
  hasMarker(osPid: number, marker: string): boolean {
    let markers = this.#markersOf.get(osPid)
    if (markers === undefined) {
      markers = this.#isKernelThread(osPid) ? [] : markersIn(environOf(osPid))
      this.#markersOf.set(osPid, markers)
    }
    return markers.includes(marker)
  }

  #isKernelThread(osPid: number): boolean {
    const stat = this.processes.get(osPid)
    return stat !== undefined && stat.ppid === 2 && stat.group === 0
  }
}

/** True when it was whole. */
function readPass(processes: Map<number, ProcStat>): boolean {
  const add = (osPid: number) => {
    const stat = whereReadable(() => statOf(osPid), null)
    if (stat !== null) processes.set(osPid, stat)
  }
  let last = lastNumber()
  for (const name of readdirSync('/proc')) if (/^\d+$/.test(name)) add(Number(name))
  for (let look = 0; look < NEWBORN_LOOKS; look++) {
    const now = lastNumber()
    if (now === last) return true
    if (now < last || now - last > MOST_NEWBORNS) return false
    for (let osPid = last + 1; osPid <= now; osPid++) if (isProcess(osPid)) add(osPid)
    last = now
  }
  return false
}

let pending: Promise<ProcTable> | null = null

/** A look taken after this was called. All who call in one turn of the loop share it, so that many cost no more than one. */
export function nextTable(): Promise<ProcTable> {
  pending ??= new Promise((resolve, reject) => {
    setImmediate(() => {
      pending = null
      try {
        resolve(ProcTable.read())
      } catch (error) {
        reject(error)
      }
    })
  })
  return pending
}

/** The values of the marker among variables that end with NUL. */
export function markersIn(environ: Buffer): readonly string[] {
  const prefix = `${MARKER}=`
  if (!environ.includes(prefix)) return []
  const variables = environ.toString('utf8').split('\0')
  return variables.filter((text) => text.startsWith(prefix)).map((text) => text.slice(prefix.length))
}

/** The PID or thread number that was handed out last, the final field of `0.20 0.18 0.12 1/80 11206`. */
function lastNumber(): number {
  const last = Number(readProc('/proc/loadavg')?.trim().split(' ').at(-1))
  return Number.isNaN(last) ? 0 : last
}

/** Threads have such numbers too, and can be looked up by them. */
function isProcess(osPid: number): boolean {
  const status = whereReadable(() => readProc(`/proc/${osPid}/status`), null)
  return status?.includes(`\nTgid:\t${osPid}\n`) === true
}

function environOf(osPid: number): Buffer {
  return whereReadable(() => readFileSync(`/proc/${osPid}/environ`), Buffer.alloc(0))
}

/** What may not be read belongs to another user, and could not be signalled either: here it counts as not there. */
function whereReadable<T>(read: () => T, otherwise: T): T {
  try {
    return read()
  } catch (error) {
    if (isGone(error) || isForbidden(error)) return otherwise
    throw error
  }
}
