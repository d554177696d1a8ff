import { readdirSync } from 'node:fs'
import { withAncestors } from '../../os/ancestors.ts'
import { readProc, whereReadable } from '../../os/proc-files.ts'
import { type ProcStat, statOf } from '../../os/stat.ts'
import { markersOf } from './markers.ts'

/** The passes until one is complete, and the checks for new processes in each; a check takes microseconds. */
const PASSES = 3
const NEWBORN_LOOKS = 200

/** PIDs that the system assigns during one pass. More means that numbering has wrapped around. */
const MAX_NEWBORNS = 10_000

/**
 * A snapshot of all OS processes, shared by every question about that moment. It is read in one pass over /proc, and then by the
 * PIDs that the system has assigned in the meantime, until there are no more: a process that starts during the pass, while its
 * parent ends, is not missed.
 */
export class ProcTable {
  readonly #processes = new Map<number, ProcStat>()
  readonly #childrenOf = new Map<number, number[]>()
  readonly #markersOf = new Map<number, readonly string[]>()
  #isWhole = true
  #selfAndAncestors: ReadonlySet<number> | undefined

  /** Reads the markers of processes that started at this time (clock ticks since boot) or later; others on demand. */
  static read(markersSince: number): ProcTable {
    for (let pass = 1; ; pass++) {
      const table = new ProcTable()
      table.#isWhole = table.#readPass(markersSince)
      if (table.#isWhole || pass === PASSES) return table
    }
  }

  /** Of known processes. */
  static of(processes: Iterable<readonly [number, ProcStat]>): ProcTable {
    const table = new ProcTable()
    for (const [osPid, stat] of processes) table.#add(osPid, stat)
    return table
  }

  private constructor() {}

  get processes(): ReadonlyMap<number, ProcStat> {
    return this.#processes
  }

  /** False: a process or its marker may be missing, because too much changed during the scan. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  get selfAndAncestors(): ReadonlySet<number> {
    this.#selfAndAncestors ??= withAncestors()
    return this.#selfAndAncestors
  }

  childrenOf(osPid: number): readonly number[] {
    return this.#childrenOf.get(osPid) ?? []
  }

  hasMarker(osPid: number, marker: string): boolean {
    return this.markersOf(osPid).includes(marker)
  }

  markersOf(osPid: number): readonly string[] {
    if (!this.#markersOf.has(osPid)) this.#readMarkers(osPid)
    return this.#markersOf.get(osPid) ?? []
  }

  /** True if no process can have been missed. */
  #readPass(markersSince: number): boolean {
    const read = (osPid: number) => {
      const stat = whereReadable(() => statOf(osPid), null)
      if (stat === null) return
      this.#add(osPid, stat)
      // At once: a moment later it may have ended, and its child may be too young to be in the table.
      if (Number(stat.startTime) >= markersSince) this.#readMarkers(osPid)
    }
    let last = lastNumber()
    for (const name of readdirSync('/proc')) if (/^\d+$/.test(name)) read(Number(name))
    for (let look = 0; look < NEWBORN_LOOKS; look++) {
      const now = lastNumber()
      if (now === last) return this.#isWhole
      if (now < last || now - last > MAX_NEWBORNS) return false
      for (let osPid = last + 1; osPid <= now; osPid++) if (isProcess(osPid)) read(osPid)
      last = now
    }
    return false
  }

  #add(osPid: number, stat: ProcStat): void {
    this.#processes.set(osPid, stat)
    const siblings = this.#childrenOf.get(stat.ppid)
    if (siblings === undefined) this.#childrenOf.set(stat.ppid, [osPid])
    else siblings.push(osPid)
  }

  #readMarkers(osPid: number): void {
    const stat = this.#processes.get(osPid)
    const markers = stat === undefined ? [] : markersOf(osPid, stat)
    if (markers === null) this.#isWhole = false
    this.#markersOf.set(osPid, markers ?? [])
  }
}

let pending: { since: number; table: Promise<ProcTable> } | null = null

/** A scan that is made after this call. All calls in one turn of the event loop share it. */
export function nextTable(markersSince: number): Promise<ProcTable> {
  if (pending !== null) {
    pending.since = Math.min(pending.since, markersSince)
    return pending.table
  }
  const asked = {
    since: markersSince,
    table: new Promise<void>((resolve) => setImmediate(resolve)).then(look),
  }
  function look(): ProcTable {
    pending = null
    return ProcTable.read(asked.since)
  }
  pending = asked
  return asked.table
}

/** The last assigned PID or thread id, the final field of `0.20 0.18 0.12 1/80 11206`. */
function lastNumber(): number {
  const last = Number(readProc('/proc/loadavg')?.trim().split(' ').at(-1))
  return Number.isNaN(last) ? 0 : last
}

/** Threads have such numbers, too, and can be looked up by them. */
function isProcess(osPid: number): boolean {
  const status = whereReadable(() => readProc(`/proc/${osPid}/status`), null)
  return status?.includes(`\nTgid:\t${osPid}\n`) === true
}
