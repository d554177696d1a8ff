import * as z from 'zod'
import { count } from './scalars.ts'

const pids = z.array(z.string())

/** The result for each process that matched. */
export const stopReport = z.strictObject({
  matched: count,
  signalled: pids,
  /** Ended before the signal was sent. */
  alreadyEnded: pids,
  /** It is unknown whether they still run: their holders are silent. */
  stale: pids,
  /** Asked to stop while the store cannot be written: their ends are recorded later. */
  unrecorded: pids,
  /** External processes whose stop is on record and could not be delivered from here. */
  recorded: pids.exactOptional(),
  failed: z.array(z.strictObject({ pid: z.string(), code: z.string(), message: z.string() })),
})

/** Kills also report the processes that were asked, are never forced, and had not ended in time. */
export const killReport = stopReport.extend({ asked: pids })
