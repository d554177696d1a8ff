import * as z from 'zod'
import { processRef } from '../../verbs/shapes/scalars.ts'
import { begun, startWaitMs } from '../begun.ts'
import { unlisted } from '../input-schema.ts'
import { maxChars } from '../page.ts'
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
  does: 'end',
  async run({ waitMs, maxChars: most, ...asked }, call) {
    return call.perform(async (acting) => {
      const { record } = await acting.restart(asked)
      return begun(acting, record, { waitMs, maxChars: most }, call)
    })
  },
})
