import * as z from 'zod'
import { duration } from '../../verbs/shapes/scalars.ts'
import { wait } from '../../verbs/wait.ts'
import { maxChars } from '../page.ts'
import { processView } from '../process-view.ts'
import { tool } from '../tool.ts'
import { readUnread, shown, unreadOutput } from '../unread.ts'
import { firstLine, duration as inWords, sentenceOn } from '../words.ts'

const { pid, until, ready } = wait.input.shape

const READY = { ready: 'It is ready. ', not_ready: 'It was not ready in the time it was given. ' } as const

export const processWait = tool({
  name: 'process_wait',
  title: 'Wait for a process',
  description: [
    'Waits until a process has ended or, with until, until it has printed a line: "listening on", an error, a prompt;',
    'with ready: true, until it is ready.',
    'A line that was printed before counts, too: to wait for the next one, give readTo of an earlier answer as',
    'until.from. Answers with what is new in its output. A timeout is no error: the process runs on, and you can wait',
    'again. Cancelling the call ends the wait, never the process.',
  ].join(' '),
  input: z.strictObject({
    pid,
    until: until.describe('a text or an RE2 pattern that a line must have'),
    ready: ready.describe('true: until it is ready, as process_start was told with ready'),
    timeoutMs: duration.max(3_600_000).default(30_000).describe('how long to wait, up to an hour'),
    maxChars,
  }),
  output: z.strictObject({
    answer: z.enum(['ended', 'matched', 'ready', 'not_ready', 'timed_out']),
    line: z.string().nullable().describe('the line that matched'),
    process: processView,
    ...unreadOutput,
  }),
  does: 'look',
  async run(
    { pid: asked, until: what, ready: isReady, timeoutMs, maxChars: most },
    { perform, signal, waiting },
  ) {
    return perform(async (acting) => {
      const input = {
        ...{ pid: asked, timeoutMs },
        ...(what === undefined ? {} : { until: what }),
        ...(isReady === undefined ? {} : { ready: isReady }),
      }
      const awaited = what === undefined ? (isReady === true ? 'the readiness' : 'the end') : 'a line'
      const message = `waiting for ${awaited} of ${asked}`
      const waited = await waiting({ totalMs: timeoutMs, message }, acting.wait(input, { signal }))
      signal.throwIfAborted()
      const answer = waited.type === 'interrupted' ? 'timed_out' : waited.type
      const line = waited.type === 'matched' ? waited.line.text : null
      const unread = await readUnread(acting, asked, most)
      const { process, output, more, lost, readTo } = unread
      const happened =
        answer === 'timed_out'
          ? `Not yet, after ${inWords(timeoutMs)}. `
          : answer === 'ready' || answer === 'not_ready'
            ? READY[answer]
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
