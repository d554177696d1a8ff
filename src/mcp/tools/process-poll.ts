import * as z from 'zod'
import { processRef } from '../../verbs/shapes/scalars.ts'
import { approvalNotes } from '../approvals/approval-notes.ts'
import { maxChars, outputRoom, pageOf } from '../page.ts'
import { describeProcess } from '../process-sentences.ts'
import { tool } from '../tool.ts'
import { partsOf, readUnread, structuredUnread } from '../unread.ts'

export const processPoll = tool({
  name: 'process_poll',
  title: 'Look at a process',
  description: [
    'Shows the status of a process and its output since your last read. Answers at once. To wait use process_wait;',
    'to read older output again, process_log or process_search.',
  ].join(' '),
  searchHint: 'process status, new output, check background command, is it still running',
  input: z.strictObject({ pid: processRef.describe('pid or name'), maxChars }),
  effect: 'read',
  async run({ pid, maxChars: most }, { perform, session, structured }) {
    const room = outputRoom(most, structured)
    const { unread, reasons } = await perform(async (acting) => {
      const read = await readUnread(acting, pid, { room, turn: session.turn, session })
      return { unread: read, reasons: await approvalNotes(acting, read.process) }
    })
    const { process } = unread
    const { above, body, notes } = partsOf(unread)
    const uptimeMs = Math.max(0, (process.endedAt ?? Date.now()) - (process.startedAt ?? Date.now()))
    return {
      structured: { ...structuredUnread(unread), uptimeMs },
      text: pageOf(
        { head: `${describeProcess(process)}${above}`, body, notes: [...notes, ...reasons] },
        most,
      ),
    }
  },
})
