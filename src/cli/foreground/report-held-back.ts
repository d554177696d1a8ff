import type { ReeveVerbs } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import { heldBackText } from '../print/held-back.ts'

/** How often to check whether a full disk holds back a command that is followed. */
const LOOK_MS = 2_000

/** Reports when a full disk holds back a command's output, and when the output goes on. The returned function stops it. */
export function reportHeldBack({ print }: Context<unknown>, reeve: ReeveVerbs, pid: string): () => void {
  const over = new AbortController()
  let wasHeld = false
  let timer: NodeJS.Timeout | undefined
  const look = async () => {
    try {
      const { name, heldBack } = await reeve.show({ pid }, { signal: over.signal })
      if (over.signal.aborted) return
      const isHeld = heldBack !== undefined
      if (isHeld && !wasHeld) print.aside(`${name ?? pid}: ${heldBackText(heldBack, Date.now())}`)
      if (!isHeld && wasHeld) print.aside(`${name ?? pid}: its output is no longer held back.`)
      wasHeld = isHeld
    } catch {
      // The reader of the output reports a daemon that is away.
    }
    if (!over.signal.aborted) lookLater()
  }
  const lookLater = () => {
    timer = setTimeout(look, LOOK_MS)
    timer.unref()
  }
  lookLater()
  return () => {
    clearTimeout(timer)
    over.abort()
  }
}
