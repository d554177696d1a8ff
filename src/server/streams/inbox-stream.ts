import { RefusedError } from '../../core/errors.ts'
import { refusal } from '../../core/refusal.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import { toWire } from '../../verbs/request.ts'
import type { Stream } from './stream.ts'

const MAX_NOTICES = { page: 200, piece: 50 } as const
/** How long one read waits for a notice. */
const WAIT_MS = 25_000

/**
 * The notices of a scope, also those that are done. A reader sees each once, and takes or marks none. The offset is the position
 * of the last notice that was read. It never closes.
 */
export function inboxStream(acting: ReeveVerbs, position: () => number, asked: string | undefined): Stream {
  const scope = asked ?? ''
  if (scope === '')
    throw new RefusedError(refusal('invalid_input', 'There is no scope.', 'Give one: ?scope=session:<id>.'))
  return {
    contentType: 'application/json',
    async tail() {
      const { next } = await acting.notices({ scope, all: true, newest: true, limit: 1 })
      return { at: next, closed: false }
    },
    async read(from, most) {
      const heardUpTo = position()
      const page = { scope, all: true, after: from, limit: MAX_NOTICES[most] }
      const { notices, next, more } = await acting.notices(page)
      return {
        // `done`, and the text about the end of an output, change under the same offset.
        of: null,
        body: toWire(notices),
        isEmpty: notices.length === 0,
        next,
        upToDate: !more,
        closed: false,
        heardUpTo,
      }
    },
    async wait({ next }, signal) {
      await acting.notices({ scope, all: true, after: next, limit: 1, waitMs: WAIT_MS }, { signal })
    },
  }
}
