import { messageOf } from '../../base/error-text.ts'
import { ExponentialBackoff } from '../../base/exponential-backoff.ts'
import type { ReadySpec } from '../../verbs/shapes/command-spec.ts'
import { logEnd } from '../output/layout.ts'
import type { FoundLine } from '../output/line-finder.ts'
import { timeOf } from '../output/times.ts'
import { listensOn } from '../ports.ts'
import type { ObservedCommand } from './observed-command.ts'
import { detailOf, READY_TIMEOUT_MS, tryOnce } from './readiness.ts'

const PROBE_MS = 250
const PROBE_MOST_MS = 2_000

/** Who reads the output, and how far. */
interface Reading {
  readonly lookedTo: number
  wake(): void
}

/**
 * Waits until a command is ready, or its time is up. Its time may have been up before anybody looked: what was there to be
 * seen by then counts, so each wait tries once, or reads what is there, before it says no.
 */
export class AwaitReady {
  readonly #bed: ObservedCommand
  readonly #over: AbortSignal
  readonly #ready: ReadySpec | null
  readonly #timeoutMs: number
  readonly #until: number
  #settled = false

  /** `over`: it has ended, or is another's. */
  constructor(bed: ObservedCommand, over: AbortSignal) {
    const { record } = bed.work
    const { ready } = bed.spec
    this.#bed = bed
    this.#over = over
    this.#ready = record.readiness === null ? (ready ?? null) : null
    this.#timeoutMs = ready?.timeoutMs ?? READY_TIMEOUT_MS
    this.#until = (record.firstStarted?.at ?? record.createdAt) + this.#timeoutMs
  }

  /** The line that it waits for, if it is a line. */
  get pattern(): string | null {
    return this.#settled || this.#ready === null || !('log' in this.#ready) ? null : this.#ready.log
  }

  async run(reading: Reading): Promise<void> {
    if (this.#ready === null) return
    await ('log' in this.#ready ? this.#untilRead(reading) : this.#untilAnswered(this.#ready))
  }

  /** Its line was printed: in time, unless it is known that it was not. */
  async saw({ offset }: FoundLine): Promise<void> {
    const at = await timeOf(this.#bed.folder, offset)
    await this.#settle(at !== null && at > this.#until ? this.#timeoutMs : null)
  }

  async #untilAnswered(ready: Exclude<ReadySpec, { log: string }>): Promise<void> {
    const backoff = new ExponentialBackoff(PROBE_MS, PROBE_MOST_MS)
    for (;;) {
      const failed = await this.#try(ready)
      if (this.#over.aborted) return
      if (failed === null) return this.#settle(null)
      const left = this.#until - this.#bed.now()
      if (left <= 0) return this.#settle(this.#timeoutMs, failed)
      await this.#bed.pause(Math.min(backoff.nextMs(), left), this.#over)
      if (this.#over.aborted) return
    }
  }

  /** What could not even be tried is tried again like what failed. */
  async #try(ready: Exclude<ReadySpec, { log: string }>): Promise<string | null> {
    try {
      return await tryOnce(ready, this.#bed.options.surroundings, this.#over)
    } catch (error) {
      this.#bed.trouble(error, 'looking whether it is ready')
      return messageOf(error)
    }
  }

  /** Whoever reads tells of the line; when the time is up, all that was printed by then has to be read first. */
  async #untilRead(reading: Reading): Promise<void> {
    await this.#bed.pause(Math.max(0, this.#until - this.#bed.now()), this.#over)
    const printed = await this.#end()
    // A log that its program writes itself may become shorter.
    while (!this.#over.aborted && !this.#settled && reading.lookedTo < Math.min(printed, await this.#end())) {
      reading.wake()
      await this.#bed.pause(PROBE_MS, this.#over)
    }
    if (!this.#over.aborted && !this.#settled) await this.#settle(this.#timeoutMs)
  }

  /** Where the log ends; a disk that fails is asked until it says. */
  async #end(): Promise<number> {
    while (!this.#over.aborted) {
      try {
        return (await logEnd(this.#bed.folder)) ?? 0
      } catch (error) {
        this.#bed.trouble(error, 'looking whether it is ready')
      }
      await this.#bed.pause(PROBE_MOST_MS, this.#over)
    }
    return 0
  }

  async #settle(timeoutMs: number | null, last?: string): Promise<void> {
    if (this.#ready === null) return
    this.#settled = true
    await this.#bed.write({
      ...{ type: 'settle_readiness', ...detailOf(this.#ready), timeoutMs },
      ...(timeoutMs === null && 'port' in this.#ready ? await this.#ownership(this.#ready.port) : {}),
      ...(last === undefined ? {} : { last }),
    })
  }

  /** Any listener counts, since a container's ports are not its client's; but it may be a stranger's. */
  async #ownership(port: number): Promise<{ readonly own?: boolean }> {
    try {
      const isOwn = await listensOn(await this.#bed.record(), port)
      return isOwn === null ? {} : { own: isOwn }
    } catch (error) {
      this.#bed.trouble(error, 'looking who listens')
      return {}
    }
  }
}
