import { ReeveError } from '../core/errors.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { ReeveVerbs } from '../verbs/reeve.ts'

const PAGE = 1_000

/**
 * Counts processes since the start of this daemon: live processes by status, spawns, ends, and the output bytes of commands.
 * Each count reads the changes since the last one only.
 */
export class ProcessCounts {
  readonly #reeve: ReeveVerbs
  readonly #live = new Map<string, LiveProcess>()
  #position: number
  #isCounted = false
  readonly spawns = new Map<string, number>()
  readonly ends = new Map<string, number>()
  outputBytes = 0

  constructor(reeve: ReeveVerbs, now: number) {
    this.#reeve = reeve
    this.#position = now
  }

  byStatus(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>(STATUSES.map((status) => [status, 0]))
    for (const { status } of this.#live.values()) add(counts, status)
    return counts
  }

  /** Counts the changes up to this position of the feed. */
  async count(upTo: number): Promise<void> {
    if (!this.#isCounted) await this.#countAll()
    while (this.#position < upTo) {
      const page = await this.#changes()
      if (page === null || page.events.length === 0) break
      const pids = [...new Set(page.events.map(({ pid }) => pid))]
      const filter = { pid: pids, status: 'any' as const }
      const { processes } = await this.#reeve.list({ filter, limit: PAGE })
      // After both reads: a read that fails is repeated, and the events must count once.
      for (const { type, payload } of page.events) {
        if (type === 'registered') add(this.spawns, String(Object(payload)['kind']))
        if (type === 'ended') add(this.ends, String(Object(payload)['status']))
      }
      for (const { record } of processes) this.#note(record, true)
      this.#position = page.position
    }
    await this.#countOutput()
  }

  /** Counts the processes that exist already. Their output so far was printed before this daemon started. */
  async #countAll(): Promise<void> {
    this.#live.clear()
    let after: string | null = null
    do {
      const page: Awaited<ReturnType<ReeveVerbs['list']>> = await this.#reeve.list({
        limit: PAGE,
        ...(after === null ? {} : { after }),
      })
      for (const { record } of page.processes) this.#note(record, false)
      after = page.next
    } while (after !== null)
    this.#isCounted = true
  }

  /** Null if events were pruned before they were read: then all processes are counted again. */
  async #changes() {
    try {
      return await this.#reeve.changes({ after: this.#position, limit: PAGE })
    } catch (error) {
      if (!(error instanceof ReeveError) || error.code !== 'behind_pruned') throw error
      this.#position = (error.details as { prunedThrough: number }).prunedThrough
      await this.#countAll()
      return null
    }
  }

  #note({ pid, kind, status, outcome }: ProcessRecord, isNew: boolean): void {
    const known = this.#live.get(pid)
    if (outcome === null) {
      // All output of a new process counts; of an older one, the output after the first count.
      const printed = known?.printed ?? (isNew ? 0 : null)
      this.#live.set(pid, { status, printed, isCommand: kind === 'command' })
      return
    }
    this.#live.delete(pid)
    const { outputBytes } = Object(outcome.result) as { outputBytes?: unknown }
    const before = known === undefined ? 0 : known.printed
    if (kind === 'command' && typeof outputBytes === 'number' && before !== null)
      this.outputBytes += Math.max(0, outputBytes - before)
  }

  async #countOutput(): Promise<void> {
    for (const [pid, live] of this.#live) {
      if (!live.isCommand) continue
      const end = await this.#outputEnd(pid, live.printed ?? 0)
      if (end === null) continue
      this.outputBytes += live.printed === null ? 0 : Math.max(0, end - live.printed)
      this.#live.set(pid, { ...live, printed: end })
    }
  }

  /** Null where it is unknown: the command has not begun, or runs elsewhere. */
  async #outputEnd(pid: string, offset: number): Promise<number | null> {
    try {
      return (await this.#reeve.output({ pid, offset, limit: 1 })).end
    } catch (error) {
      if (error instanceof ReeveError) return null
      throw error
    }
  }
}

interface LiveProcess {
  readonly status: string
  readonly isCommand: boolean
  /** The output bytes that are counted or were there before; null before the first count. */
  readonly printed: number | null
}

/** Exported also with a count of 0: a gauge without a data point keeps its last value. */
const STATUSES = ['queued', 'running', 'waiting', 'paused', 'stopping'] as const

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}
