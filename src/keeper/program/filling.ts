import { join } from 'node:path'
import type { OutputCaps } from '../protocol/spawn-plan.ts'
import { DirectLog } from './direct-log.ts'
import { DirectOutput } from './direct-output.ts'
import type { OutputEvents } from './output.ts'
import { type LogEvents, OutputLog } from './output-log.ts'
import type { Program } from './program.ts'
import type { ProgramContext } from './program-context.ts'
import type { ProgramTree } from './program-tree.ts'

/**
 * Connects a program, its output and its log, which need each other: the program is set as soon as it exists, in the same turn of
 * the event loop, so that no event is missed.
 */
export class Filling {
  readonly folder: string
  program: Program | null = null
  readonly #context: ProgramContext
  readonly #pid: string
  readonly #caps: OutputCaps

  constructor(context: ProgramContext, pid: string, caps: OutputCaps) {
    this.folder = join(context.output, pid)
    this.#context = context
    this.#pid = pid
    this.#caps = caps
  }

  /** A log that the keeper writes, and the receiver of its bytes. */
  openLog(): { readonly log: OutputLog; readonly events: OutputEvents } {
    const logEvents: LogEvents = {
      flows: () => this.program?.flows(),
      dropped: () => {
        // After the end of the program, prune deletes the log in order.
        if (this.program?.isRunning !== false)
          this.#trouble(`${this.folder} was deleted while it runs. What it prints from now on is not kept.`)
      },
      trouble: (message) => this.#trouble(message),
      heldBackChanged: () => this.program?.heldBackChanged(),
    }
    const log = new OutputLog(this.folder, this.#caps, logEvents, this.#context.openLogs)
    const events: OutputEvents = {
      bytes: (chunk, stream) => {
        const flows = log.append(chunk, stream)
        this.program?.grew()
        return flows
      },
      isWatched: () => this.program?.isFollowed ?? false,
      ended: () => this.program?.outputEnded(),
    }
    return { log, events }
  }

  /** A log that the program writes itself, and the events of its growth. */
  openDirectLog(): { readonly log: DirectLog; readonly output: (tree: ProgramTree) => DirectOutput } {
    const log = new DirectLog(this.folder, this.#caps, (message) => this.#trouble(message))
    const events = {
      grew: () => this.program?.grew(),
      diskFull: (isFull: boolean) => {
        if (isFull)
          this.#trouble(`The disk of ${this.folder} is nearly full. It is stopped until there is space.`)
        this.program?.diskFull(isFull)
      },
      ended: () => this.program?.outputEnded(),
    }
    return { log, output: (tree) => new DirectOutput(log, events, () => !tree.isEmpty()) }
  }

  #trouble(message: string): void {
    this.#context.trouble(this.#pid, message)
  }
}
