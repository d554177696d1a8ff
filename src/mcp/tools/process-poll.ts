import * as z from 'zod'
import { count, processRef } from '../../verbs/shapes/scalars.ts'
import { maxChars } from '../page.ts'
import { processView } from '../process-view.ts'
import { tool } from '../tool.ts'
import { readUnread, shown, unreadOutput } from '../unread.ts'
import { sentenceOn } from '../words.ts'

export const processPoll = tool({
  name: 'process_poll',
  title: 'Look at a process',
  description: [
    'How a process is now, and what it has printed since you last looked. Answers at once. To wait for something use',
    'process_wait; to read older output again, process_log or process_search.',
  ].join(' '),
  input: z.strictObject({ pid: processRef, maxChars }),
  output: z.strictObject({ process: processView, ...unreadOutput, uptimeMs: count }),
  does: 'look',
  async run({ pid, maxChars: most }, { perform, session: { turn } }) {
    const unread = await perform((acting) => readUnread(acting, pid, { maxChars: most, turn }))
    const { process, output, more, lost, readTo } = unread
    const uptimeMs = Math.max(0, (process.endedAt ?? Date.now()) - (process.startedAt ?? Date.now()))
    return {
      structured: { process, output, more, lost, readTo, uptimeMs },
      text: `${sentenceOn(process)}\n${shown(unread)}`,
    }
  },
})
