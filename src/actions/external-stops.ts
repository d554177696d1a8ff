import { RefusedError } from '../core/errors.ts'
import { alreadyEnded } from '../core/process/decision.ts'
import type { Pid } from '../core/process/pid.ts'
import { type Actor, hasEnded, type ProcessRecord } from '../core/process/record.ts'
import { trackedOf } from '../core/process/tracked.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import type { Delivery } from '../external/deliveries.ts'
import type { ExternalProcesses } from '../external/external-processes.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { Done } from '../kernel/perform.ts'
import { permitSignal } from '../kernel/permit-signal.ts'
import type { StopReport } from '../kernel/stop-scope.ts'
import type { OutputOf } from '../verbs/reeve.ts'

/** How long an answer waits for a callback of the program, and for another kernel. The delivery goes on after that. */
const CALLBACK_MS = 5_000
const OTHER_KERNEL_MS = 2_000
/** How many deliveries are waited for at once. */
const REACHES_AT_ONCE = 64

/** Stops of external processes: an answer says `signalled` only when the stop reached the process. */
export class ExternalStops {
  readonly #kernel: Kernel
  readonly #externals: ExternalProcesses

  constructor(kernel: Kernel, externals: ExternalProcesses) {
    this.#kernel = kernel
    this.#externals = externals
  }

  /** Delivers a recorded stop, and waits a moment for the delivery. */
  async reach(asked: ProcessRecord): Promise<Delivery['type']> {
    const { pid, revision } = asked
    const delivery = this.#externals.deliver(pid)
    const { type } = await this.#unlessCallbackIsLate(pid, delivery)
    if (type !== 'elsewhere') return type
    const isSettled = (event: { readonly type: string }) =>
      event.type === 'stop_delivered' || event.type === 'ended'
    await this.#kernel.waits.forEvent(pid, revision, isSettled, { timeoutMs: OTHER_KERNEL_MS })
    const { record } = await this.#row(pid)
    if (hasEnded(record)) return 'ended'
    return record.stopRequest?.deliveredAt === undefined ? 'elsewhere' : 'delivered'
  }

  /** Gives up on a callback after `CALLBACK_MS`; other deliveries take no longer than the store. */
  async #unlessCallbackIsLate(pid: Pid, delivery: Promise<Delivery>): Promise<Delivery> {
    for (;;) {
      const late = Promise.withResolvers<null>()
      const cancel = this.#kernel.edges.clock.after(CALLBACK_MS, () => late.resolve(null))
      try {
        const delivered = await Promise.race([delivery, late.promise])
        if (delivered !== null) return delivered
        if (this.#externals.isCalling(pid)) return { type: 'unreachable' }
      } finally {
        cancel()
      }
    }
  }

  /** The answer to a stop of one process. */
  async answer(
    { how, record: before }: { readonly how: Done['type']; readonly record: ProcessRecord },
    signal: 'interrupt' | 'cancel' | 'kill',
  ): Promise<OutputOf<'signal'>> {
    if (how !== 'appended' && before.stopRequest?.deliveredAt !== undefined)
      return { type: 'unchanged', record: before }
    const reached = await this.reach(before)
    const { record } = await this.#row(before.pid)
    if (reached === 'delivered') return { type: 'signalled', record }
    if (reached !== 'ended') return { type: 'recorded', record }
    if (signal === 'interrupt') throw new RefusedError(alreadyEnded(record))
    return { type: 'already_ended', record }
  }

  /** Moves the processes that the stop reached from `recorded` to the list of their outcome. */
  async complete({ recorded, ...report }: StopReport): Promise<OutputOf<'interrupt'>> {
    const left: Pid[] = []
    const next = recorded.values()
    const reachSome = async () => {
      for (const pid of next) {
        const reached = await this.reach((await this.#row(pid)).record)
        if (reached === 'delivered') report.signalled.push(pid)
        else if (reached === 'ended') report.alreadyEnded.push(pid)
        else if (reached === 'forbidden') {
          const { code, message } = notSignalled(pid)
          report.failed.push({ pid, code, message })
        } else left.push(pid)
      }
    }
    await Promise.all(Array.from({ length: REACHES_AT_ONCE }, reachSome))
    return left.length === 0 ? report : { ...report, recorded: left }
  }

  /** Records first: after a crash before the signal, the next start acts on the record. */
  async pause(record: ProcessRecord, actor: Actor): Promise<OutputOf<'signal'>> {
    const { edges } = this.#kernel
    await this.#permit(record, actor, 'pause')
    const reachable = this.#externals.signal(record, null)
    if (reachable.type !== 'delivered') throw new RefusedError(await this.#refusal(record, reachable.type))
    const asked = { pid: record.pid, actor, at: edges.clock.now() } as const
    const performed = await this.#kernel.perform({ ...asked, type: 'pause' })
    if (performed.type !== 'appended') return { type: 'unchanged', record: performed.row.record }
    const { type } = this.#externals.signal(record, 'SIGSTOP')
    if (type === 'delivered') return { type: 'signalled', record: performed.row.record }
    const refused = await this.#refusal(record, type)
    if (type !== 'ended') await this.#kernel.perform({ ...asked, type: 'resume' })
    throw new RefusedError(refused)
  }

  /** Signals first: after a crash before the record, the process counts as paused, and the next start stops it again. */
  async resume(record: ProcessRecord, actor: Actor): Promise<OutputOf<'signal'>> {
    const { edges } = this.#kernel
    await this.#permit(record, actor, 'resume')
    if (record.status === 'paused') {
      const { type } = this.#externals.signal(record, 'SIGCONT')
      if (type !== 'delivered') throw new RefusedError(await this.#refusal(record, type))
    }
    const asked = { pid: record.pid, actor, at: edges.clock.now() } as const
    const performed = await this.#kernel.perform({ ...asked, type: 'resume' })
    return { type: 'signalled', record: performed.row.record }
  }

  #permit(record: ProcessRecord, actor: Actor, action: 'pause' | 'resume'): Promise<void> {
    return permitSignal(this.#kernel.edges, actor, action, record)
  }

  async #refusal(record: ProcessRecord, type: Delivery['type']): Promise<Refusal> {
    if (type === 'elsewhere') return onAnotherHost(record.pid)
    if (type !== 'ended') return notSignalled(record.pid)
    await this.#externals.recordGone(record.pid)
    return alreadyEnded((await this.#row(record.pid)).record)
  }

  async #row(pid: Pid) {
    const row = await this.#kernel.edges.store.ask({ ask: 'process', pid })
    if (row === null) throw new Error(`${pid} is not on record`)
    return row
  }
}

/** Whether its OS process is known, so that a pause signals it as well as recording the pause. */
export function isTracked(record: ProcessRecord): boolean {
  return trackedOf(record) !== null
}

export function notSignalled(pid: Pid): Refusal {
  return refusal(
    'not_ours',
    `The OS process of ${pid} may not be signalled: it runs as another user now, or it is above Reeve itself.`,
    'Nothing was signalled. End it yourself, as its user.',
  )
}

function onAnotherHost(pid: Pid): Refusal {
  return refusal(
    'not_served',
    `The OS process of ${pid} runs on another machine, or in another PID namespace.`,
    'Ask the daemon that runs there.',
  )
}
