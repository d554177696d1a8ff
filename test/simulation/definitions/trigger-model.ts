import type { Pid } from '../../../src/core/process/pid.ts'
import type { EndStatus } from '../../../src/core/process/status.ts'
import type { Delivery } from '../../../src/core/trigger/delivery.ts'
import type { Trigger } from '../../../src/core/trigger/trigger.ts'
import { type DefinitionLaw, LAWS } from './laws.ts'

const MAX_PARALLEL = 100

/** What became of a delivery. */
export type Fate = 'queued' | 'started' | 'skipped' | 'filtered'

/** One trigger, as commits tell it: which deliveries have a process, which wait, and which are left out. */
export class TriggerModel {
  readonly id: string
  readonly key: string
  readonly #broke: (law: DefinitionLaw, what: string) => void
  readonly #fates = new Map<string, Fate>()
  readonly #deliveries = new Map<Pid, string>()
  /** Deliveries that have a process. */
  readonly #made = new Set<string>()
  row: Trigger
  isPaused = false
  #mustPause = false
  #running: Pid[] = []
  #queue: Pid[] = []
  /** Processes that the open commit has to register. */
  #due: Pid[] = []
  /** Occurrences that a delivery of the open commit cancels. */
  #replaced: Pid[] = []
  /** Of the open commit: the stored verdicts. */
  #stored = new Map<Pid, string>()

  constructor(row: Trigger, broke: (law: DefinitionLaw, what: string) => void) {
    this.id = row.id
    this.key = row.key
    this.row = row
    this.#broke = (law, what) => broke(law, `${row.id}: ${what}`)
  }

  fateOf(delivery: string): Fate | undefined {
    return this.#fates.get(delivery)
  }

  isOccurrence(pid: Pid): boolean {
    return this.#deliveries.has(pid)
  }

  /** The row was written. Only its definition and its pause are looked at. */
  changed(row: Trigger): void {
    const was = this.row
    this.row = row
    if (was.paused === null && row.paused !== null) {
      if (row.paused.by === 'kernel:triggers' && !this.#mustPause)
        this.#broke(LAWS.pauses, `it pauses: ${row.paused.note}`)
      this.#mustPause = false
      this.isPaused = true
    }
    if (was.paused !== null && row.paused === null) this.isPaused = false
    if (was.revision !== row.revision || was.paused !== row.paused) this.#startWaiting()
  }

  arrived({ id, pid, verdict }: Delivery): void {
    if (this.#fates.has(id)) this.#broke(LAWS.deliveredOnce, `${id} was decided on before`)
    this.#deliveries.set(pid, id)
    this.#stored.set(pid, verdict)
    if (verdict === 'filtered') {
      this.#fates.set(id, 'filtered')
      return
    }
    const { overlap } = this.row
    const isBusy = this.#running.length > 0 || this.#queue.length > 0
    if (overlap === 'skip' && isBusy) {
      this.#fates.set(id, 'skipped')
      return
    }
    if (overlap === 'bufferOne' || overlap === 'cancelOther') {
      for (const other of this.#queue) this.#fates.set(this.#nameOf(other), 'skipped')
      this.#queue = []
    }
    if (overlap === 'cancelOther') this.#replaced.push(...this.#running)
    this.#fates.set(id, 'queued')
    this.#queue.push(pid)
    this.#startWaiting()
  }

  /** A stored delivery got another verdict. */
  settled({ pid, verdict }: Delivery): void {
    this.#stored.set(pid, verdict)
  }

  registered(pid: Pid, delivery: string): void {
    if (this.#made.has(delivery)) this.#broke(LAWS.deliveredOnce, `${delivery} has another process, ${pid}`)
    this.#made.add(delivery)
    if (!this.#due.includes(pid))
      this.#broke(LAWS.verdicts, `${delivery} starts, and is ${this.#fates.get(delivery)}`)
    this.#due = this.#due.filter((one) => one !== pid)
  }

  ended(pid: Pid, status: EndStatus): void {
    if (!this.#running.includes(pid)) return
    this.#running = this.#running.filter((one) => one !== pid)
    const hasFailed = status === 'failed' || status === 'abandoned'
    if (hasFailed && this.row.pauseOnFailure && !this.isPaused) this.#mustPause = true
    else this.#startWaiting()
  }

  /** The commit is complete. `isStopped`: a process is being stopped, or has ended. */
  closed(isStopped: (pid: Pid) => boolean): void {
    if (this.#mustPause) this.#broke(LAWS.pauses, 'an occurrence failed, and it is not paused')
    for (const pid of this.#due)
      this.#broke(LAWS.accepted, `${this.#nameOf(pid)} can start, and has no process`)
    for (const [pid, verdict] of this.#stored) {
      const fate = this.#fates.get(this.#nameOf(pid))
      if (fate !== verdict)
        this.#broke(LAWS.verdicts, `${this.#nameOf(pid)} is ${verdict}, and should be ${fate}`)
    }
    for (const pid of this.#replaced)
      if (!isStopped(pid)) this.#broke(LAWS.overlap, `${pid} runs on beside the delivery that replaces it`)
    this.#replaced = []
    this.#due = []
    this.#stored = new Map()
  }

  /** All that could start has started. `isLive`: whether a process has not ended. */
  atRest(isLive: (pid: Pid) => boolean): void {
    if (this.isPaused) return
    const live = this.#running.filter(isLive)
    if (live.length === 0 && this.#queue.length > 0)
      this.#broke(LAWS.accepted, `${this.#queue.length} deliveries wait, and nothing runs`)
    for (const [delivery, fate] of this.#fates)
      if (fate === 'started' && !this.#made.has(delivery))
        this.#broke(LAWS.accepted, `${delivery} has no process`)
  }

  #nameOf(pid: Pid): string {
    return this.#deliveries.get(pid) ?? pid
  }

  #startWaiting(): void {
    const { overlap } = this.row
    const most = overlap === 'allow' || overlap === 'cancelOther' ? MAX_PARALLEL : 1
    while (!this.isPaused && this.#running.length < most) {
      const first = this.#queue.shift()
      if (first === undefined) return
      this.#fates.set(this.#nameOf(first), 'started')
      this.#running.push(first)
      this.#due.push(first)
    }
  }
}
