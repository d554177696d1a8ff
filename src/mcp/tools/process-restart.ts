import * as z from 'zod'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import { processRef } from '../../verbs/shapes/scalars.ts'
import { begun, startWaitMs } from '../begun.ts'
import { unlisted } from '../input-schema.ts'
import { maxChars } from '../page.ts'
import { markEndAsSeen } from '../seen-end.ts'
import { tool } from '../tool.ts'
import { graceMs } from './process-kill.ts'

export const processRestart = tool({
  name: 'process_restart',
  title: 'Start a process again',
  description: [
    'Ends a process if it still runs, and starts the same command again, in the same folder and with the same name,',
    'under a new pid. Answers as process_start does.',
  ].join(' '),
  searchHint: 'restart server, rerun command, run again',
  input: z.strictObject({
    pid: processRef.describe('pid or name'),
    graceMs,
    waitMs: startWaitMs,
    maxChars: unlisted(maxChars),
  }),
  does: 'restart',
  async run({ waitMs, maxChars: most, ...asked }, call) {
    return call.perform(async (acting, session) => {
      const { record } = await acting.restart(asked)
      const { restartOf } = record
      if (restartOf !== null && (await isEndedBy(acting, restartOf, `session:${session}`)))
        await markEndAsSeen(acting, restartOf, call.signal)
      return begun(acting, record, { waitMs, maxChars: most }, call)
    })
  },
})

/** False for a process that had ended by itself: the agent may not know of that yet. */
async function isEndedBy(acting: ReeveVerbs, pid: string, actor: string): Promise<boolean> {
  return (await acting.show({ pid })).outcome?.source === actor
}
