import { BoundedMap } from '../base/bounded-map.ts'
import type { View } from '../command/output-access.ts'
import { RefusedError } from '../core/errors.ts'
import type { Pid } from '../core/process/pid.ts'
import { type Actor, hasEnded, type ProcessRecord } from '../core/process/record.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import type { Kernel } from '../kernel/kernel.ts'

/** An actor was shown the secrets of a process. */
export interface Revealed {
  readonly pid: Pid
  readonly actor: Actor
  readonly verb: string
}

/** `isRecorded`: the reveal is an event of the process, too. */
type OnReveal = (revealed: Revealed, isRecorded: boolean) => void

/** Reveals of one process to one actor within this time are noted once, for example page after page of output. */
const NOTED_MS = 60_000
const MAX_NOTED = 10_000

/**
 * Permits reveals of secrets to admins, and notes each reveal: as an event while the process lives, and to `onReveal` always.
 * The end is the last event of a process, so later reveals are reported to `onReveal` alone.
 */
export class Reveals {
  readonly #kernel: () => Kernel
  readonly #onReveal: OnReveal
  readonly #noted = new BoundedMap<string, number>(MAX_NOTED)

  constructor(kernel: () => Kernel, onReveal: OnReveal) {
    this.#kernel = kernel
    this.#onReveal = onReveal
  }

  /** Throws a refusal if the actor may not see secrets. */
  permit(actor: Actor): void {
    if (!mayReveal(this.#kernel(), actor)) throw new RefusedError(denied(actor))
  }

  /** How a process is shown: masked, or raw with `reveal`, which is refused to an actor that may not see secrets. */
  async viewFor(actor: Actor, record: ProcessRecord, verb: string, reveal: boolean): Promise<View> {
    if (!reveal) return 'masked'
    this.permit(actor)
    await this.#note(actor, record.pid, verb, hasEnded(record))
    return 'raw'
  }

  /** Notes the processes whose secrets were in an answer about many. */
  async noteAll(actor: Actor, pids: ReadonlySet<Pid>, verb: string): Promise<void> {
    for (const pid of pids) {
      const row = await this.#kernel().edges.store.ask({ ask: 'process', pid })
      await this.#note(actor, pid, verb, row === null || hasEnded(row.record))
    }
  }

  async #note(actor: Actor, pid: Pid, verb: string, isOver: boolean): Promise<void> {
    const at = this.#kernel().edges.clock.now()
    const key = `${actor} ${pid}`
    const last = this.#noted.get(key)
    if (last !== undefined && at - last < NOTED_MS) return
    const isRecorded = !isOver && (await this.#record(actor, pid, verb, at))
    this.#onReveal({ pid, actor, verb }, isRecorded)
    this.#noted.set(key, at)
  }

  /** Whether the event was recorded: the process may have ended meanwhile. */
  async #record(actor: Actor, pid: Pid, verb: string, at: number): Promise<boolean> {
    try {
      await this.#kernel().perform({ type: 'reveal', pid, actor, at, verb })
      return true
    } catch (error) {
      if (error instanceof RefusedError && error.code === 'already_ended') return false
      throw error
    }
  }
}

function mayReveal(kernel: Kernel, actor: Actor): boolean {
  return kernel.edges.authorize(actor, 'admin', { type: 'store' }) === undefined
}

/** How a terminal shows output: raw to the host, a person; masked to sessions and processes. */
export function terminalView(kernel: Kernel, actor: Actor): View {
  return mayReveal(kernel, actor) ? 'raw' : 'masked'
}

function denied(actor: Actor): Refusal {
  return refusal(
    'denied',
    `${actor} may not see secrets.`,
    'Leave reveal out: secrets are masked, and everything else is shown.',
  )
}
