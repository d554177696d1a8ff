import { StoreError } from '../core/errors.ts'
import type { Reader } from '../core/inbox/readers.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor } from '../core/process/record.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import { consume, observe } from '../kernel/consume-notices.ts'
import type { Kernel } from '../kernel/kernel.ts'

/** The effects of a read on the actor's later reads: which notices it still gets, and from where it polls. */
export interface ReadEffects {
  /** Whether polls move the read position, and the inbox releases notices that are due. */
  readonly areKept: boolean
  /** The actor has seen in this turn that a process ended. */
  observe(pid: Pid, turn: string): Promise<void>
  /** The actor, or one of its readers, has received the outcome of a process, or all of its output. */
  consume(pid: Pid, reader?: Reader): Promise<void>
}

export function effectsFor(kernel: Kernel, actor: Actor): ReadEffects {
  return {
    areKept: true,
    observe: (pid, turn) => unlessUnwritable(observe(kernel.edges, actor, pid, turn)),
    consume: (pid, reader) => unlessUnwritable(consume(kernel.edges, actor, pid, reader)),
  }
}

/** A read succeeds even if the store takes no writes: the actor gets the notice once more instead. */
async function unlessUnwritable(writing: Promise<void>): Promise<void> {
  try {
    await writing
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
  }
}

/** An observer changes nothing. */
export const NO_EFFECTS: ReadEffects = {
  areKept: false,
  observe: async () => undefined,
  consume: async () => undefined,
}

export function onlyObserves(actor: Actor, verb: string): Refusal {
  return refusal(
    'denied',
    `${verb} changes something, and ${actor} may only read here.`,
    'Use a token with the role operate.',
    { subject: actor, verb },
  )
}
