import { ReeveError } from '../core/errors.ts'
import type { InputOf, OutputOf, ReeveVerbs } from '../verbs/reeve.ts'

export type Polled = OutputOf<'poll'> & {
  /** The daemon went away during a poll, so output that it had answered with may be lost to this reader. */
  readonly isRetried: boolean
}

const MAX_POLLS = 3

/** A poll moves the read position, so the client library does not repeat it. This repeats it and reports that (`isRetried`). */
export async function pollWithRetry(acting: ReeveVerbs, asking: InputOf<'poll'>): Promise<Polled> {
  for (let asked = 1; ; asked++) {
    try {
      return { ...(await acting.poll(asking)), isRetried: asked > 1 }
    } catch (error) {
      const isGone = error instanceof ReeveError && error.code === 'daemon_unreachable'
      if (!isGone || asked === MAX_POLLS) throw error
      // A read waits for the daemon to come back, and reconnects.
      await acting.show({ pid: asking.pid })
    }
  }
}
