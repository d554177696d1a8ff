import * as z from 'zod'
import { duration } from '../../verbs/shapes/scalars.ts'
import { wait } from '../../verbs/wait.ts'
import { maxChars } from '../page.ts'
import { waitTask } from '../process-tasks.ts'
import { tool } from '../tool.ts'
import { readUnread } from '../unread.ts'
import { waitedFor, waitedOutput } from '../waited.ts'

const { pid, until } = wait.input.shape

/** How long a wait that may become a task is held before it does. */
const HELD_MS = 1_000

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
  output: waitedOutput,
  does: 'look',
  async run(
    { pid: asked, until: what, timeoutMs, maxChars: most },
    { perform, session, signal, waiting, takesTasks },
  ) {
    return perform(async (acting) => {
      const by = Date.now() + timeoutMs
      const input = (ms: number) => ({
        ...{ pid: asked, timeoutMs: ms },
        ...(what === undefined ? {} : { until: what }),
      })
      const message = `waiting for ${what === undefined ? 'the end of ' : 'a line of '}${asked}`
      const held = takesTasks ? Math.min(HELD_MS, timeoutMs) : timeoutMs
      let waited = await waiting({ totalMs: timeoutMs, message }, acting.wait(input(held), { signal }))
      signal.throwIfAborted()
      if (waited.type === 'timed_out' && held < timeoutMs) {
        const task = waitTask(waited.record, session, { by, ...(what === undefined ? {} : { until: what }) })
        if (task !== null) return { task }
        const rest = Math.max(0, by - Date.now())
        waited = await waiting({ totalMs: rest, message }, acting.wait(input(rest), { signal }))
        signal.throwIfAborted()
      }
      return waitedFor(waited, await readUnread(acting, asked, most), timeoutMs)
    })
  },
})
