import type { ReeveVerbs } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import { heldBackText } from '../print/held-back.ts'

/** How often it is asked whether a command that is followed stands still because of the disk. */
const LOOK_MS = 2_000

/** Says when the disk holds a command's output back, and when it goes on. Until the answer is called. */
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
      // A daemon that is away is told of where the output is read.
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
