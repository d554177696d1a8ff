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

/** The scan of the output, and how far it has come. */
interface Reading {
  readonly lookedTo: number
  wake(): void
}

/**
 * Waits until a command is ready, or its time is up. The time may have passed while no daemon ran: readiness that was visible
 * by then counts, so each wait tries once, or reads the existing output, before it gives up.
 */
export class AwaitReady {
  readonly #bed: ObservedCommand
  readonly #over: AbortSignal
  readonly #ready: ReadySpec | null
  readonly #timeoutMs: number
  readonly #until: number
  #settled = false

  /** `over`: the command has ended, or another kernel executes it. */
  constructor(bed: ObservedCommand, over: AbortSignal) {
    const { record } = bed.work
    const { ready } = bed.spec
    this.#bed = bed
    this.#over = over
    this.#ready = record.readiness === null ? (ready ?? null) : null
    this.#timeoutMs = ready?.timeoutMs ?? READY_TIMEOUT_MS
    this.#until = (record.firstStarted?.at ?? record.createdAt) + this.#timeoutMs
  }

  /** The pattern of the line that shows readiness, if it is a line. */
  get pattern(): string | null {
    return this.#settled || this.#ready === null || !('log' in this.#ready) ? null : this.#ready.log
  }

  async run(reading: Reading): Promise<void> {
    if (this.#ready === null) return
    await ('log' in this.#ready ? this.#untilRead(reading) : this.#untilAnswered(this.#ready))
  }

  /** The line was printed: in time, unless it is known to be late. */
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

  /** A try that throws is repeated like one that fails. */
  async #try(ready: Exclude<ReadySpec, { log: string }>): Promise<string | null> {
    try {
      return await tryOnce(ready, this.#bed.options.surroundings, this.#over)
    } catch (error) {
      this.#bed.trouble(error, 'looking whether it is ready')
      return messageOf(error)
    }
  }

  /** The scan reports the line; when the time is up, all output that was printed by then has to be scanned first. */
  async #untilRead(reading: Reading): Promise<void> {
    await this.#bed.pause(Math.max(0, this.#until - this.#bed.now()), this.#over)
    const printed = await this.#end()
    // A log that its program writes itself may shrink.
    while (!this.#over.aborted && !this.#settled && reading.lookedTo < Math.min(printed, await this.#end())) {
      reading.wake()
      await this.#bed.pause(PROBE_MS, this.#over)
    }
    if (!this.#over.aborted && !this.#settled) await this.#settle(this.#timeoutMs)
  }

  /** The end of the log; retries while the disk fails. */
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
      type: 'settle_readiness',
      ...detailOf(this.#ready),
      timeoutMs,
      ...(timeoutMs === null && 'port' in this.#ready ? await this.#ownership(this.#ready.port) : {}),
      ...(last === undefined ? {} : { last }),
    })
  }

  /** Any listener counts, because a container's ports are not its client's; but the listener may be another program. */
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
