import * as z from 'zod'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import { processRef } from '../../verbs/shapes/scalars.ts'
import { unlisted } from '../input-schema.ts'
import { markEndAsSeen } from '../mark-end-as-seen.ts'
import { maxChars } from '../page.ts'
import { startAnswer, startWaitMs } from '../start-answer.ts'
import { tool } from '../tool.ts'
import { graceMs } from './process-kill.ts'

export const processRestart = tool({
  name: 'process_restart',
  title: 'Start a process again',
  description: [
    'Ends a process if it still runs, and starts the same command again, in the same folder and with the same name,',
    'under a new pid. Answers like process_start.',
  ].join(' '),
  searchHint: 'restart server, rerun command, run again',
  input: z.strictObject({
    pid: processRef.describe('pid or name'),
    graceMs: unlisted(graceMs),
    waitMs: startWaitMs,
    maxChars: unlisted(maxChars),
  }),
  effect: 'restart',
  async run({ waitMs, maxChars: most, ...asked }, call) {
    return call.perform(async (acting, session) => {
      const { record } = await acting.restart(asked)
      const { restartOf } = record
      if (restartOf !== null && (await isEndedBy(acting, restartOf, `session:${session}`)))
        await markEndAsSeen(acting, restartOf, call.signal)
      return startAnswer(acting, record, { waitMs, maxChars: most }, call)
    })
  },
})

/** False for a process that had ended by itself: the agent may not know that yet. */
async function isEndedBy(acting: ReeveVerbs, pid: string, actor: string): Promise<boolean> {
  return (await acting.show({ pid })).outcome?.source === actor
}
