import * as z from 'zod'
import { duration } from '../../verbs/shapes/scalars.ts'
import { wait } from '../../verbs/wait.ts'
import { maxChars } from '../page.ts'
import { waitTask } from '../process-tasks.ts'
import { tool } from '../tool.ts'
import { readUnread } from '../unread.ts'
import { waitedFor, waitedOutput } from '../waited.ts'

const { pid, until, ready } = wait.input.shape

const DEFAULT_MS = 30_000
/** How long a wait that may become a task is held before it does. */
const HELD_MS = 1_000

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
    timeoutMs: duration
      .max(3_600_000)
      .exactOptional()
      .describe('how long to wait, up to an hour: 30 s, unless your client runs calls as tasks'),
    maxChars,
  }),
  output: waitedOutput,
  does: 'look',
  async run({ pid: asked, until: what, ready: isReady, timeoutMs, maxChars: most }, call) {
    const { perform, session, signal, waiting, takesTasks } = call
    return perform(async (acting) => {
      const wanted = {
        ...(what === undefined ? {} : { until: what }),
        ...(isReady === undefined ? {} : { ready: isReady }),
      }
      const awaited = what === undefined ? (isReady === true ? 'the readiness' : 'the end') : 'a line'
      const message = `waiting for ${awaited} of ${asked}`
      const wait = async (ms: number) => {
        const waited = acting.wait({ pid: asked, timeoutMs: ms, ...wanted }, { signal })
        const answer = await waiting({ totalMs: ms, message }, waited)
        signal.throwIfAborted()
        return answer
      }
      const mostMs = timeoutMs ?? DEFAULT_MS
      const by = Date.now() + mostMs
      const isTask = takesTasks && mostMs > HELD_MS
      let waited = await wait(isTask ? HELD_MS : mostMs)
      if (isTask && waited.type === 'timed_out') {
        // The end comes in its time. A line may never come, so that is not waited for without an end.
        const unbounded = what === undefined && timeoutMs === undefined
        const task = waitTask(waited.record, session, { by: unbounded ? null : by, ...wanted })
        if (task !== null) return { task }
        waited = await wait(Math.max(0, by - Date.now()))
      }
      const { turn } = session
      return waitedFor(waited, await readUnread(acting, asked, { maxChars: most, turn }), mostMs)
    })
  },
})
