import { readdirSync } from 'node:fs'
import { withAncestors } from '../../os/ancestors.ts'
import { readProc, whereReadable } from '../../os/proc-files.ts'
import { isOver, type ProcStat, statOf } from '../../os/stat.ts'
import { markersOf } from './markers.ts'

/** The passes until one is complete, and the listings in each; after the first, a listing has few new processes. */
const PASSES = 3
const LISTINGS = 200

/**
 * A snapshot of all OS processes, shared by every question about that moment. /proc is listed until all processes of a listing have
 * been read while they lived. A process that ends between the listing and its read may have left a child that is not in the listing,
 * because it was about to start.
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
    let last = lastNumber()
    for (let listing = 0; listing < LISTINGS; listing++) {
      const listed = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
      const unread = listed.map(Number).filter((osPid) => !this.#processes.has(osPid))
      // All are read, whatever becomes of one of them.
      const seen = unread.map((osPid) => this.#read(osPid, markersSince))
      const now = lastNumber()
      // Numbers begin again: a child may have a lower one than its parent, and a listing is in their order.
      if (now < last) return false
      last = now
      if (!seen.includes('ended')) return this.#isWhole
    }
    return false
  }

  #read(osPid: number, markersSince: number): 'alive' | 'hidden' | 'ended' {
    const stat = whereReadable<ProcStat | 'ended' | 'hidden'>(() => statOf(osPid) ?? 'ended', 'hidden')
    if (typeof stat === 'string') return stat
    this.#add(osPid, stat)
    // At once: a moment later it may have ended.
    if (Number(stat.startTime) >= markersSince && this.#readMarkers(osPid) === 'ended') return 'ended'
    return isOver(stat) ? 'ended' : 'alive'
  }

  #add(osPid: number, stat: ProcStat): void {
    this.#processes.set(osPid, stat)
    const siblings = this.#childrenOf.get(stat.ppid)
    if (siblings === undefined) this.#childrenOf.set(stat.ppid, [osPid])
    else siblings.push(osPid)
  }

  #readMarkers(osPid: number): 'read' | 'unreadable' | 'ended' {
    const stat = this.#processes.get(osPid)
    const markers = stat === undefined ? [] : markersOf(osPid, stat)
    if (markers === 'unreadable') this.#isWhole = false
    const isRead = typeof markers !== 'string'
    this.#markersOf.set(osPid, isRead ? markers : [])
    return isRead ? 'read' : markers
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
