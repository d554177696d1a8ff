import { BoundedMap } from '../base/bounded-map.ts'
import type { View } from '../command/output-access.ts'
import { RefusedError } from '../core/errors.ts'
import type { Pid } from '../core/process/pid.ts'
import { type Actor, hasEnded, type ProcessRecord } from '../core/process/record.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import type { Kernel } from '../kernel/kernel.ts'

/** Somebody had the secrets of a process shown. */
export interface Revealed {
  readonly pid: Pid
  readonly actor: Actor
  readonly verb: string
}

/** `isRecorded`: it is an event of the process, too. */
type OnReveal = (revealed: Revealed, isRecorded: boolean) => void

/** Who reads page after page is noted once for all pages of a minute. */
const NOTED_MS = 60_000
const MAX_NOTED = 10_000

/**
 * Lets secrets be shown to whoever may do everything, and notes it: as an event of the process while that lives. An end is the
 * last event of all, so what is shown of an ended process is told to `onReveal` alone, which hears of every other time too.
 */
export class Reveals {
  readonly #kernel: () => Kernel
  readonly #onReveal: OnReveal
  readonly #noted = new BoundedMap<string, number>(MAX_NOTED)

  constructor(kernel: () => Kernel, onReveal: OnReveal) {
    this.#kernel = kernel
    this.#onReveal = onReveal
  }

  /** Refused to those who may not. */
  permit(actor: Actor): void {
    if (!mayReveal(this.#kernel(), actor)) throw new RefusedError(denied(actor))
  }

  /** How a process is shown to whoever asks so. Refused to those who may not. */
  async viewFor(actor: Actor, record: ProcessRecord, verb: string, reveal: boolean): Promise<View> {
    if (!reveal) return 'masked'
    this.permit(actor)
    await this.#note(actor, record.pid, verb, hasEnded(record))
    return 'raw'
  }

  /** The secrets of these processes were in an answer about many. */
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

  /** Whether there is an event of it: it may have ended in this moment. */
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

/** Secrets are for those to whom everything belongs. */
function mayReveal(kernel: Kernel, actor: Actor): boolean {
  return kernel.edges.authorize(actor, 'admin', { type: 'store' }) === undefined
}

/** What a terminal shows. Whoever sits there is the host; a session or a process is nobody who sits anywhere. */
export function terminalView(kernel: Kernel, actor: Actor): View {
  return mayReveal(kernel, actor) ? 'raw' : 'masked'
}

function denied(actor: Actor): Refusal {
  return refusal(
    'denied',
    `${actor} may not have secrets shown.`,
    'Leave reveal out: what is a secret is masked, and everything else is there.',
  )
}
