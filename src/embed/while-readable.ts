import type { RefusedError } from '../core/errors.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor } from '../core/process/record.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { type AccessWatch, accessLost } from '../kernel/read-access.ts'
import type { CallOptions } from '../verbs/reeve.ts'

/** A call that lasts, for as long as its actor may read what it is about. */
interface ReadableCall {
  /** Aborted by the caller, or when access is lost. */
  readonly signal: AbortSignal
  /** Throws `denied` once access is lost. */
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
  const watch = kernel.readAccess.watch(actor, pids, true, (pid) => loss.of(pid))
  watch.checked.catch((error: unknown) =>
    kernel.edges.onTrouble(error, 'looking who may still read a process'),
  )
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

/** Passes on what is followed until the actor may no longer read the process: then it throws `denied`. */
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
  const watch: AccessWatch = kernel.readAccess.watch(actor, pids, false, (pid) => {
    if (!watch.areAnyReadable()) loss.of(pid)
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

  of(pid: Pid): void {
    this.#error ??= accessLost(this.#actor, pid)
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
