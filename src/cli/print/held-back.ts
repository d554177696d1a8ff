import type { OutputOf } from '../../verbs/reeve.ts'
import { byteCount, shortTime } from './times.ts'

type HeldBack = NonNullable<OutputOf<'show'>['heldBack']>

/** Why a command that prints makes no progress. */
export function heldBackText({ since, bytes }: HeldBack, now: number): string {
  const waiting = bytes === 0 ? '' : ` (${byteCount(bytes)} wait)`
  return `output held back for ${shortTime(now - since)}${waiting}: the disk is full or nearly full. It goes on when there is space.`
}
