import type { RefusedError } from '../core/errors.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor } from '../core/process/record.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { type AccessWatch, accessLost, CHECKING_ACCESS, type LossReason } from '../kernel/read-access.ts'
import type { CallOptions } from '../verbs/reeve.ts'

/** A call that lasts until its actor can no longer read the process. */
interface ReadableCall {
  /** Aborted by the caller, or when access is lost. */
  readonly signal: AbortSignal
  /** Throws `denied` once access is lost, and `pruned_pid` once the process is pruned. */
  throwIfLost(): void
  stop(): void
}

/** Ends a call when its actor loses one of these processes, which it has read a moment ago. */
function readableCall(
  kernel: Kernel,
  actor: Actor,
  pids: readonly Pid[],
  options: CallOptions,
): ReadableCall {
  const loss = new Loss(actor, options)
  const watch = kernel.readAccess.watch(actor, pids, true, (pid, reason) => loss.of(pid, reason))
  watch.checked.catch((error: unknown) => kernel.edges.onTrouble(error, CHECKING_ACCESS))
  return loss.call(watch)
}

/** Performs an act that lasts; its answer counts only if the actor may still read these processes then. */
export async function whileReadable<Answer>(
  kernel: Kernel,
  actor: Actor,
  pids: readonly Pid[],
  options: CallOptions,
  act: (options: { readonly signal: AbortSignal }) => Promise<Answer>,
): Promise<Answer> {
  const call = readableCall(kernel, actor, pids, options)
  try {
    const answer = await act({ signal: call.signal })
    call.throwIfLost()
    return answer
  } finally {
    call.stop()
  }
}

/** Passes on the items until the actor can no longer read the process: then it throws `denied` or `pruned_pid`. */
export async function* followWhileReadable<Item>(
  kernel: Kernel,
  actor: Actor,
  pid: Pid,
  options: CallOptions,
  follow: (options: { readonly signal: AbortSignal }) => AsyncIterable<Item>,
): AsyncGenerator<Item, void, void> {
  const call = readableCall(kernel, actor, [pid], options)
  try {
    for await (const item of follow({ signal: call.signal })) {
      call.throwIfLost()
      yield item
    }
    call.throwIfLost()
  } finally {
    call.stop()
  }
}

/** Ends a follower of these processes when its actor could read some of them, and has lost the last one. */
export async function followNamed(
  kernel: Kernel,
  actor: Actor,
  pids: readonly Pid[],
  options: CallOptions,
): Promise<ReadableCall> {
  const loss = new Loss(actor, options)
  const watch: AccessWatch = kernel.readAccess.watch(actor, pids, false, (pid, reason) => {
    if (!watch.areAnyReadable()) loss.of(pid, reason)
  })
  try {
    await watch.checked
  } catch (error) {
    watch.stop()
    throw error
  }
  return loss.call(watch)
}

/** The end of a call by the loss of a process, beside the end that its caller asks for. */
class Loss {
  readonly #actor: Actor
  readonly #signal: AbortSignal | undefined
  readonly #ending = new AbortController()
  #error: RefusedError | undefined

  constructor(actor: Actor, { signal }: CallOptions) {
    this.#actor = actor
    this.#signal = signal
  }

  of(pid: Pid, reason: LossReason): void {
    this.#error ??= accessLost(this.#actor, pid, reason)
    this.#ending.abort()
  }

  call({ stop }: AccessWatch): ReadableCall {
    const ending = this.#ending.signal
    return {
      signal: this.#signal === undefined ? ending : AbortSignal.any([this.#signal, ending]),
      throwIfLost: () => {
        if (this.#error !== undefined) throw this.#error
      },
      stop,
    }
  }
}
