import { BoundedMap } from '../base/bounded-map.ts'
import type { View } from '../command/output/output-access.ts'
import { traceIn } from '../core/audit/trace.ts'
import { RefusedError } from '../core/errors.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor, ProcessRecord } from '../core/process/record.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { type RevealRequest, recordDeniedReveal, recordReveals } from '../kernel/reveals.ts'
import type { CallOptions } from '../verbs/reeve.ts'

/** An actor was shown the secrets of a process. */
export interface Revealed {
  readonly pid: Pid
  readonly actor: Actor
  readonly verb: string
}

type OnReveal = (revealed: Revealed) => void

/** Reveals of one process to one actor within this time are noted once, for example page after page of output. */
const NOTED_MS = 60_000
const MAX_NOTED = 10_000

/**
 * Permits reveals of secrets to admins, and notes each reveal: in the audit, as an event while the process lives, and to
 * `onReveal`.
 */
export class Reveals {
  readonly #kernel: () => Kernel
  readonly #onReveal: OnReveal
  readonly #noted = new BoundedMap<string, number>(MAX_NOTED)

  constructor(kernel: () => Kernel, onReveal: OnReveal) {
    this.#kernel = kernel
    this.#onReveal = onReveal
  }

  /** Throws a refusal if the actor may not see secrets; the audit has the denial. */
  async permit(request: RevealRequest): Promise<void> {
    const { actor } = request
    if (mayReveal(this.#kernel(), actor)) return
    const refused = denied(actor)
    await recordDeniedReveal(this.#kernel().edges, request, refused.message)
    throw new RefusedError(refused)
  }

  /** How a process is shown: masked, or raw with `reveal`, which is refused to an actor that may not see secrets. */
  async viewFor(request: RevealRequest, { pid }: ProcessRecord, reveal: boolean): Promise<View> {
    if (!reveal) return 'masked'
    await this.permit(request)
    await this.noteAll(request, new Set([pid]))
    return 'raw'
  }

  /** Notes the processes whose secrets are in an answer, before it is given. */
  async noteAll(request: RevealRequest, pids: ReadonlySet<Pid>): Promise<void> {
    const { actor, verb } = request
    const { edges } = this.#kernel()
    const at = edges.clock.now()
    const unnoted = [...pids].filter((pid) => {
      const last = this.#noted.get(`${actor} ${pid}`)
      return last === undefined || at - last >= NOTED_MS
    })
    if (unnoted.length === 0) return
    await recordReveals(edges, request, unnoted)
    for (const pid of unnoted) {
      this.#noted.set(`${actor} ${pid}`, at)
      this.#onReveal({ pid, actor, verb })
    }
  }
}

export function revealRequest(actor: Actor, verb: string, { trace }: CallOptions): RevealRequest {
  return { actor, verb, trace: traceIn(trace) }
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
