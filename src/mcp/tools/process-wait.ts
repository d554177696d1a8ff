import * as z from 'zod'
import { duration } from '../../verbs/shapes/scalars.ts'
import { wait } from '../../verbs/wait.ts'
import { approvalNotes } from '../approvals/approval-notes.ts'
import { waitingIn } from '../approvals/prompts.ts'
import { listedAs, unlisted } from '../input-schema.ts'
import { maxChars, outputRoom } from '../page.ts'
import { waitTask } from '../process-tasks.ts'
import { tool } from '../tool.ts'
import { readUnread } from '../unread.ts'
import { awaitedIn, waitAnswer } from '../wait-answer.ts'

const { pid, until, ready } = wait.input.shape

const DEFAULT_MS = 30_000
/** How long a call waits before it becomes a task. */
const HELD_MS = 1_000

export const processWait = tool({
  name: 'process_wait',
  title: 'Wait for a process',
  description: [
    'Waits until a process ends; with until, until it prints a line ("listening on", an error, a prompt); with ready,',
    'until it is ready. Answers with its new output. A line printed earlier counts: for the next one give the "read',
    'to" of an answer as until.from. "Not yet" is no error: the process runs on, call again.',
  ].join(' '),
  searchHint:
    'wait for process, wait until finished, wait for output line, wait for server ready, await command',
  alwaysLoad: true,
  input: z.strictObject({
    pid: pid.describe('pid or name'),
    until: listedAs(until, {
      type: 'object',
      description: 'a line, by text or pattern',
      properties: {
        text: { type: 'string', description: 'text in the line' },
        pattern: { type: 'string', description: 'RE2 pattern' },
        from: { type: 'integer', description: 'behind this byte' },
      },
    }),
    ready: ready.describe('until it is ready, as process_start was told'),
    timeoutMs: duration.max(3_600_000).exactOptional().describe('30000 by default, up to an hour'),
    maxChars: unlisted(maxChars),
  }),
  effect: 'read',
  async run({ pid: asked, until: what, ready: isReady, timeoutMs, maxChars: most }, call) {
    const { perform, session, signal, waiting, takesTasks, structured, msLeft, prompt } = call
    return perform(async (acting) => {
      const wanted = {
        ...(what === undefined ? {} : { until: what }),
        ...(isReady === undefined ? {} : { ready: isReady }),
      }
      const awaited = what === undefined ? (isReady === true ? 'the readiness' : 'the end') : 'a line'
      const message = `waiting for ${awaited} of ${asked}`
      const wait = async (ms: number, ref = asked) => {
        const waited = acting.wait({ pid: ref, timeoutMs: ms, ...wanted }, { signal })
        const answer = await waiting({ totalMs: ms, message }, waited)
        signal.throwIfAborted()
        return answer
      }
      const mostMs = timeoutMs ?? DEFAULT_MS
      if (prompt.isPossible) {
        const waitMs = Math.min(mostMs, msLeft())
        await prompt.beforeWait(acting, waitingIn(await acting.show({ pid: asked })), waitMs)
      }
      const by = Date.now() + mostMs
      const isTask = takesTasks && mostMs > HELD_MS
      const allowedMs = Math.min(mostMs, msLeft())
      let waited = await wait(isTask ? HELD_MS : allowedMs)
      if (isTask && waited.type === 'timed_out') {
        // Every process ends, but a line may never come, so a wait for a line has a deadline.
        const unbounded = what === undefined && timeoutMs === undefined
        const task = waitTask(waited.record, session, { by: unbounded ? null : by, ...wanted })
        if (task !== null) return { task }
        waited = await wait(Math.min(Math.max(0, by - Date.now()), msLeft()), waited.record.pid)
      }
      const room = outputRoom(most, structured)
      // The name may refer to a restarted process by now.
      const pid = waited.type === 'interrupted' ? asked : waited.record.pid
      const unread = await readUnread(acting, pid, { room, turn: session.turn, session })
      return waitAnswer(waited, unread, {
        maxChars: most,
        notes: await approvalNotes(acting, unread.process),
        afterMs: allowedMs,
        leftMs: mostMs - allowedMs,
        ...awaitedIn({ until: what, ready: isReady }),
        ...(what?.text === undefined ? {} : { text: what.text }),
      })
    })
  },
})
