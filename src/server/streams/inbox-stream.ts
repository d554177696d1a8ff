import { RefusedError } from '../../core/errors.ts'
import { refusal } from '../../core/refusal.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import { toWire } from '../../verbs/request.ts'
import type { Stream } from './stream.ts'

const MAX_NOTICES = { page: 200, piece: 50 } as const
/** As long as one look waits for something. */
const WAIT_MS = 25_000

/**
 * What a scope is told, with what is done too: whoever follows sees each once, and takes or marks nothing. The offset is the
 * place of the last one that was seen; it has no end.
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
      const { notices, next, more } = await acting.notices({
        ...{ scope, all: true, after: from, limit: MAX_NOTICES[most] },
      })
      return {
        // What is done, and the end of an output, change under the same offsets.
        of: null,
        ...{ body: toWire(notices), isEmpty: notices.length === 0, next },
        ...{ upToDate: !more, closed: false, heardUpTo },
      }
    },
    async wait({ next }, signal) {
      await acting.notices({ scope, all: true, after: next, limit: 1, waitMs: WAIT_MS }, { signal })
    },
  }
}
