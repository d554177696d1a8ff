import { ReeveError } from '../core/errors.ts'
import type { InputOf, OutputOf, ReeveVerbs } from '../verbs/reeve.ts'

export type Polled = OutputOf<'poll'> & {
  /** The daemon went away as it was asked, and what it answered with may have been lost on the way. */
  readonly askedAgain: boolean
}

const MAX_POLLS = 3

/** A poll notes how far it came, so a client does not repeat it by itself. Here it is said if that may have cost something. */
export async function pollOrAgain(acting: ReeveVerbs, asking: InputOf<'poll'>): Promise<Polled> {
  for (let asked = 1; ; asked++) {
    try {
      return { ...(await acting.poll(asking)), askedAgain: asked > 1 }
    } catch (error) {
      const isGone = error instanceof ReeveError && error.code === 'daemon_unreachable'
      if (!isGone || asked === MAX_POLLS) throw error
      // This waits for the daemon to come back, and finds a connection to it.
      await acting.show({ pid: asking.pid })
    }
  }
}
