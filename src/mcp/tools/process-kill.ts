import * as z from 'zod'
import { kill } from '../../verbs/kill.ts'
import { duration, processRef } from '../../verbs/shapes/scalars.ts'
import { unlisted } from '../input-schema.ts'
import { markEndAsSeen } from '../mark-end-as-seen.ts'
import { PAGE_CHARS, pageOf } from '../page.ts'
import { describeProcess } from '../process-sentences.ts'
import { structuredView, viewOf } from '../process-view.ts'
import { tool } from '../tool.ts'

/** Clients wait for one answer long enough for this grace and the kill after it. */
export const graceMs = duration.max(30_000).exactOptional().describe('time before SIGKILL')

export const processKill = tool({
  name: 'process_kill',
  title: 'End a process',
  description: [
    'Ends a process and everything it started, also what a command has left running: SIGTERM first, SIGKILL after a',
    'grace period. Answers when all are gone.',
  ].join(' '),
  searchHint: 'stop process, kill server, terminate command',
  input: z.strictObject({
    pid: processRef.describe('pid or name'),
    graceMs,
    reason: unlisted(kill.input.shape.reason),
  }),
  effect: 'end',
  async run(asked, { perform, signal }) {
    const { type: answer, record } = await perform(async (acting) => {
      const killed = await acting.kill(asked)
      if (killed.record.outcome !== null) await markEndAsSeen(acting, killed.record.pid, signal)
      return killed
    })
    const process = viewOf(record)
    const leftText = process.leftBehind > 0 ? 'What it had left running has ended, too. ' : ''
    const said = {
      ended: 'Ended. ',
      already_ended: `It had ended before. ${leftText}`,
      asked: 'It was asked to end and has not ended yet. ',
      unrecorded: 'Ended, but not recorded yet, because the store cannot be written. ',
    }
    return {
      structured: { type: answer, process: structuredView(process) },
      text: pageOf({ head: `${said[answer]}${describeProcess(process)}`, body: '' }, PAGE_CHARS),
    }
  },
})
