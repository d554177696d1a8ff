import * as z from 'zod'
import { duration } from '../../verbs/shapes/scalars.ts'
import { wait } from '../../verbs/wait.ts'
import { maxChars } from '../page.ts'
import { processView } from '../process-view.ts'
import { tool } from '../tool.ts'
import { readUnread, shown, unreadOutput } from '../unread.ts'
import { firstLine, duration as inWords, sentenceOn } from '../words.ts'

const { pid, until } = wait.input.shape

export const processWait = tool({
  name: 'process_wait',
  title: 'Wait for a process',
  description: [
    'Waits until a process has ended or, with until, until it has printed a line: "listening on", an error, a prompt.',
    'A line that was printed before counts, too: to wait for the next one, give readTo of an earlier answer as',
    'until.from. Answers with what is new in its output. A timeout is no error: the process runs on, and you can wait',
    'again. Cancelling the call ends the wait, never the process.',
  ].join(' '),
  input: z.strictObject({
    pid,
    until: until.describe('a text or an RE2 pattern that a line must have'),
    timeoutMs: duration.max(3_600_000).default(30_000).describe('how long to wait, up to an hour'),
    maxChars,
  }),
  output: z.strictObject({
    answer: z.enum(['ended', 'matched', 'timed_out']),
    line: z.string().nullable().describe('the line that matched'),
    process: processView,
    ...unreadOutput,
  }),
  does: 'look',
  async run({ pid: asked, until: what, timeoutMs, maxChars: most }, { perform, signal, waiting }) {
    return perform(async (acting) => {
      const input = { pid: asked, timeoutMs, ...(what === undefined ? {} : { until: what }) }
      const message = `waiting for ${what === undefined ? 'the end of ' : 'a line of '}${asked}`
      const waited = await waiting({ totalMs: timeoutMs, message }, acting.wait(input, { signal }))
      signal.throwIfAborted()
      const answer = waited.type === 'interrupted' ? 'timed_out' : waited.type
      const line = waited.type === 'matched' ? waited.line.text : null
      const unread = await readUnread(acting, asked, most)
      const { process, output, more, lost, readTo } = unread
      const happened =
        answer === 'timed_out'
          ? `Not yet, after ${inWords(timeoutMs)}. `
          : line === null
            ? ''
            : `Printed: ${firstLine(line, 300)}\n`
      return {
        structured: { answer, line, process, output, more, lost, readTo },
        text: `${happened}${sentenceOn(process)}\n${shown(unread)}`,
      }
    })
  },
})
