import type { Work } from '../../kernel/executor.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { commandSpecOf } from '../command-spec.ts'
import { logEnd } from '../output/layout.ts'
import { AwaitReady } from './await-ready.ts'
import { type AttendOptions, ObservedCommand } from './observed-command.ts'
import { OutputScan, type Untold } from './output-scan.ts'

export type { AttendOptions } from './observed-command.ts'
export type { Untold } from './output-scan.ts'

/** Observes a running command: its watches, its readiness, its heartbeat. */
export interface Attendance {
  /**
   * The program and its output have ended. Resolves when all output is scanned and all notices are written, with the lines of
   * each watch that no notice reports.
   */
  finish(outputEnd: number): Promise<Untold>
  /** This kernel no longer executes the command: the next one continues. */
  stop(): void
}

/** Null if the spec asks for no observation. */
export function attend(work: Work, kernel: Kernel, options: AttendOptions): Attendance | null {
  const { watch = [], ready, heartbeatMs } = commandSpecOf(work.record)
  const isReady = ready === undefined || work.record.readiness !== null
  if (watch.length === 0 && isReady && heartbeatMs === undefined) return null
  return new Attending(work, kernel, options)
}

const LIFE = 'looking for signs of life'

class Attending implements Attendance {
  readonly #bed: ObservedCommand
  readonly #stop = new AbortController()
  /** Aborted when the program has ended, or this kernel no longer executes the command. */
  readonly #over = new AbortController()
  readonly #scan: OutputScan
  readonly #scanned: Promise<void>

  constructor(work: Work, kernel: Kernel, options: AttendOptions) {
    this.#bed = new ObservedCommand(work, kernel, options, this.#stop.signal)
    const ready = new AwaitReady(this.#bed, this.#over.signal)
    this.#scan = new OutputScan(this.#bed, ready)
    this.#scanned = this.#orTrouble('watching', () => this.#scan.run())
    void this.#orTrouble('looking whether it is ready', () => ready.run(this.#scan))
    void this.#orTrouble(LIFE, () => this.#beat())
  }

  async finish(outputEnd: number): Promise<Untold> {
    this.#over.abort()
    this.#scan.endAt(outputEnd)
    await this.#scanned
    this.stop()
    return this.#scan.untold()
  }

  stop(): void {
    this.#over.abort()
    this.#stop.abort()
    this.#scan.wake()
  }

  /** Only with new output, and at most one per interval. */
  async #beat(): Promise<void> {
    const { heartbeatMs } = this.#bed.spec
    if (heartbeatMs === undefined) return
    let before = 0
    const look = async () => {
      const outputBytes = (await logEnd(this.#bed.folder)) ?? 0
      const newBytes = outputBytes - before
      before = outputBytes
      return { outputBytes, newBytes }
    }
    await this.#orTrouble(LIFE, look)
    for (;;) {
      await this.#bed.pause(heartbeatMs, this.#over.signal)
      if (this.#over.signal.aborted) return
      // A disk that fails now may work the next time.
      await this.#orTrouble(LIFE, async () => {
        const { outputBytes, newBytes } = await look()
        if (newBytes > 0) await this.#bed.write({ type: 'beat', outputBytes, newBytes })
      })
    }
  }

  async #orTrouble(doing: string, task: () => Promise<unknown>): Promise<void> {
    try {
      await task()
    } catch (error) {
      this.#bed.trouble(error, doing)
    }
  }
}
