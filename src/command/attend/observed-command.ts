import { join } from 'node:path'
import { pause } from '../../base/pause.ts'
import { RefusedError, StoreError } from '../../core/errors.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { ProcessRecord } from '../../core/process/record.ts'
import type { CommandSpec } from '../../core/process/spec.ts'
import type { Work } from '../../kernel/executor.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import type { OwnIntent } from '../../kernel/perform-as.ts'
import { commandSpecOf } from '../command-spec.ts'
import type { Cursors } from '../output/cursors.ts'
import type { Masking } from '../output/masking.ts'
import type { Surroundings } from './shell-try.ts'

export interface AttendOptions {
  /** The folder of the logs. */
  readonly output: string
  readonly cursors: Cursors
  /** Watches see the output as a reader does: masked. */
  readonly masking: () => Promise<Masking | null>
  /** The shell, folder and environment of the command, for a readiness line. */
  readonly surroundings: () => Promise<Surroundings>
  /** Subscribes to the growth of the log. */
  readonly follow: (grew: () => void) => () => void
  readonly onTrouble: (error: unknown, doing: string) => void
}

const RETRY_MS = 500

/** A running command for its observers (watches, readiness, heartbeat): its spec, the clock, and a way to record observations. */
export class ObservedCommand {
  readonly work: Work
  readonly spec: CommandSpec
  readonly options: AttendOptions
  readonly folder: string
  /** Aborted when this kernel no longer executes the command, or all observers are done. */
  readonly signal: AbortSignal
  readonly kernel: Kernel

  constructor(work: Work, kernel: Kernel, options: AttendOptions, signal: AbortSignal) {
    this.work = work
    this.spec = commandSpecOf(work.record)
    this.kernel = kernel
    this.options = options
    this.folder = join(options.output, work.record.pid)
    this.signal = signal
  }

  get pid(): Pid {
    return this.work.record.pid
  }

  now(): number {
    return this.kernel.edges.clock.now()
  }

  /** The current record: one attempt may observe the command more than once. */
  async record(): Promise<ProcessRecord> {
    const row = await this.kernel.edges.store.ask({ ask: 'process', pid: this.pid })
    return row?.record ?? this.work.record
  }

  /** Retries until the store is back, so that no observation is lost. False if the store can never accept it. */
  async write(intent: OwnIntent): Promise<boolean> {
    while (!this.signal.aborted) {
      try {
        await this.kernel.performAs(this.work, intent)
        return true
      } catch (error) {
        // Ended, or executed by another kernel, which then records it.
        if (error instanceof RefusedError) return true
        this.options.onTrouble(error, `telling what ${this.pid} printed`)
        if (!(error instanceof StoreError)) return false
      }
      await this.pause(RETRY_MS)
    }
    return true
  }

  trouble(error: unknown, doing: string): void {
    this.options.onTrouble(error, `${doing}: ${this.pid}`)
  }

  /** Ends early when `signal` aborts. */
  pause(ms: number, signal = this.signal): Promise<void> {
    return pause(this.kernel.edges.clock, ms, signal)
  }
}
