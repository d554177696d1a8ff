import * as z from 'zod'
import { count } from './scalars.ts'

const pids = z.array(z.string())

/** What became of each process that matched. */
export const stopReport = z.strictObject({
  matched: count,
  signalled: pids,
  /** Had ended before anything reached it. */
  alreadyEnded: pids,
  /** Nobody knows whether it still runs: its holder is silent. */
  stale: pids,
  /** Asked to stop, though the store cannot be written: their ends are recorded when it can. */
  unrecorded: pids,
  /** External processes whose stop is on record, and could not be delivered from here. */
  recorded: pids.exactOptional(),
  failed: z.array(z.strictObject({ pid: z.string(), code: z.string(), message: z.string() })),
})

/** Of kills besides: those that were asked, are never forced, and had not ended when the time for an answer came. */
export const killReport = stopReport.extend({ asked: pids })
