import { StoreError } from '../core/errors.ts'
import type { Reader } from '../core/inbox/readers.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor } from '../core/process/record.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import { consume, observe } from '../kernel/inbox.ts'
import type { Kernel } from '../kernel/kernel.ts'

/** What a read does for the actor's later reads: notices it need not be told again, and how far it has polled. */
export interface ReadEffects {
  /** Its polls move its read position, and its inbox releases what is held back when that is due. */
  readonly areKept: boolean
  /** The actor has seen in this turn that a process ended. */
  observe(pid: Pid, turn: string): Promise<void>
  /** The actor, or one of its readers, has taken the outcome of a process, or all of its output. */
  consume(pid: Pid, reader?: Reader): Promise<void>
}

export function effectsFor(kernel: Kernel, actor: Actor): ReadEffects {
  return {
    areKept: true,
    observe: (pid, turn) => unlessUnwritable(observe(kernel.edges, actor, pid, turn)),
    consume: (pid, reader) => unlessUnwritable(consume(kernel.edges, actor, pid, reader)),
  }
}

/** A store that cannot be written does not keep anyone from reading: the actor is told once more instead. */
async function unlessUnwritable(writing: Promise<void>): Promise<void> {
  try {
    await writing
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
  }
}

/** An observer leaves everything as it was. */
export const NO_EFFECTS: ReadEffects = {
  areKept: false,
  observe: async () => undefined,
  consume: async () => undefined,
}

export function onlyObserves(actor: Actor, verb: string): Refusal {
  return refusal(
    'denied',
    `${verb} changes something, and who acts as ${actor} here only looks.`,
    'Use a token with the role operate.',
    { subject: actor, verb },
  )
}
