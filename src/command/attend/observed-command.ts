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
  /** Where the logs are. */
  readonly output: string
  readonly cursors: Cursors
  /** Watches see what a reader sees. */
  readonly masking: () => Promise<Masking | null>
  /** What a command has around it, and so has a line that says whether it is ready. */
  readonly surroundings: () => Promise<Surroundings>
  /** Calls when the log has grown. */
  readonly follow: (grew: () => void) => () => void
  readonly onTrouble: (error: unknown, doing: string) => void
}

const RETRY_MS = 500

/** One command, for those who look at it: what it is, the time, and a way to write what was seen. */
export class ObservedCommand {
  readonly work: Work
  readonly spec: CommandSpec
  readonly options: AttendOptions
  readonly folder: string
  /** Aborted when this kernel has it no longer, or all is done. */
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

  /** The record as it is now: an attempt may attend to it more than once. */
  async record(): Promise<ProcessRecord> {
    const row = await this.kernel.edges.store.ask({ ask: 'process', pid: this.pid })
    return row?.record ?? this.work.record
  }

  /**
   * A store that is away is tried again until it is back: what was seen must not be lost. False if it cannot be stored at
   * all, and never will be.
   */
  async write(intent: OwnIntent): Promise<boolean> {
    while (!this.signal.aborted) {
      try {
        await this.kernel.performAs(this.work, intent)
        return true
      } catch (error) {
        // Ended, or another's: then it is not ours to tell.
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

  /** Ends early when `signal` says so. */
  pause(ms: number, signal = this.signal): Promise<void> {
    return pause(this.kernel.edges.clock, ms, signal)
  }
}
