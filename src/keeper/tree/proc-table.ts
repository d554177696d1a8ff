import { readdirSync, readFileSync } from 'node:fs'
import { MARKER } from '../protocol/home.ts'
import { codeOf, isGone, type ProcStat, statOf } from './stat.ts'

/** All OS processes of one moment: a single pass over /proc, which every question about that moment shares. */
export class ProcTable {
  readonly processes: ReadonlyMap<number, ProcStat>
  readonly #childrenOf = new Map<number, number[]>()
  readonly #markersOf = new Map<number, readonly string[]>()

  static read(): ProcTable {
    const processes = new Map<number, ProcStat>()
    for (const name of readdirSync('/proc')) {
      const osPid = Number(name)
      if (!Number.isInteger(osPid)) continue
      const stat = statOf(osPid)
      if (stat !== null) processes.set(osPid, stat)
    }
    return new ProcTable(processes)
  }

  constructor(processes: ReadonlyMap<number, ProcStat>) {
    this.processes = processes
    for (const [osPid, { ppid }] of processes) {
      const siblings = this.#childrenOf.get(ppid)
      if (siblings === undefined) this.#childrenOf.set(ppid, [osPid])
      else siblings.push(osPid)
    }
  }

  childrenOf(osPid: number): readonly number[] {
    return this.#childrenOf.get(osPid) ?? []
  }

  /** Read when first asked, since most processes are never asked for it. */
  hasMarker(osPid: number, marker: string): boolean {
    let markers = this.#markersOf.get(osPid)
    if (markers === undefined) {
      markers = this.#isKernelThread(osPid) ? [] : markersOf(osPid)
      this.#markersOf.set(osPid, markers)
    }
    return markers.includes(marker)
  }

  /** This program and those above it, which are never part of a tree that it ends. */
  ownLine(): ReadonlySet<number> {
    const line = new Set<number>([process.pid])
    let above = process.ppid
    while (above > 0 && !line.has(above)) {
      line.add(above)
      above = this.processes.get(above)?.ppid ?? 0
    }
    return line
  }

  #isKernelThread(osPid: number): boolean {
    const stat = this.processes.get(osPid)
    return stat !== undefined && stat.ppid === 2 && stat.group === 0
  }
}

function markersOf(osPid: number): readonly string[] {
  return markersIn(environOf(osPid))
}

/** The values of the marker among variables that are divided by NUL. */
export function markersIn(environ: Buffer): readonly string[] {
  const prefix = `${MARKER}=`
  if (!environ.includes(prefix)) return []
  return environ
    .toString('utf8')
    .split('\0')
    .filter((variable) => variable.startsWith(prefix))
    .map((variable) => variable.slice(prefix.length))
}

/** What belongs to another user cannot be read, and could not be signalled either: it has no marker for us. */
function environOf(osPid: number): Buffer {
  try {
    return readFileSync(`/proc/${osPid}/environ`)
  } catch (error) {
    if (isGone(error) || codeOf(error) === 'EACCES' || codeOf(error) === 'EPERM') return Buffer.alloc(0)
    throw error
  }
}
