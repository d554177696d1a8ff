import { setTimeout as after } from 'node:timers/promises'
import * as z from 'zod'
import { duration } from '../../verbs/shapes/scalars.ts'
import { submit } from '../../verbs/submit.ts'
import { wait } from '../../verbs/wait.ts'
import { maxChars } from '../page.ts'
import { processView } from '../process-view.ts'
import { tool } from '../tool.ts'
import { readUnread, shown, unreadOutput } from '../unread.ts'
import { sentenceOn } from '../words.ts'

/** What comes first is often an echo: the answer follows at once. */
const SETTLE_MS = 150
const untilShape = wait.input.shape.until.unwrap().shape

export const processWrite = tool({
  name: 'process_write',
  title: 'Type into a process',
  description: [
    'Types into a process that has a terminal (pty) or an open input (stdin: pipe), waits a moment and answers with what',
    'it printed. Text is typed as it is: set enter for a line. Keys: "\\u0003" is Ctrl-C, "\\u0004" Ctrl-D, "\\u001b"',
    'Escape, "\\u001b[A" the up arrow. With until it waits for the next prompt or answer; end closes the input.',
  ].join(' '),
  input: z
    .strictObject({
      pid: submit.input.shape.pid,
      text: submit.input.shape.text.default('').describe('what to type'),
      enter: z.boolean().default(false).describe('press Enter after it'),
      end: z.boolean().default(false).describe('close its input after it; in a terminal: Ctrl-D'),
      until: z
        .strictObject({ text: untilShape.text, pattern: untilShape.pattern })
        .refine(
          ({ text, pattern }) => (text === undefined) !== (pattern === undefined),
          'give either text or pattern',
        )
        .exactOptional()
        .describe('wait for a line that is printed in reply: a text or an RE2 pattern'),
      waitMs: duration.max(30_000).default(1_000).describe('how long to wait for a reply, up to 30000'),
      maxChars,
    })
    .refine(
      ({ text, enter, end }) => text !== '' || enter || end,
      'there is nothing to type: give text, enter or end',
    ),
  output: z.strictObject({ matched: z.boolean().nullable(), process: processView, ...unreadOutput }),
  does: 'change',
  async run({ pid, text, enter, end, until, waitMs, maxChars: most }, { perform, session, signal, waiting }) {
    return perform(async (acting) => {
      const typed = enter
        ? await acting.submit({ pid, text })
        : text === ''
          ? null
          : await acting.write({ pid, text })
      if (end) await acting.closeInput({ pid })
      // Anything counts as a reply unless the caller says what does.
      const reply = typed === null ? {} : { until: { ...(until ?? { pattern: '\\S' }), from: typed.end } }
      const waited = await waiting(
        { totalMs: waitMs, message: `waiting for ${pid} to answer` },
        acting.wait({ pid, timeoutMs: waitMs, ...reply }, { signal }),
      )
      if (waited.type === 'matched' && until === undefined) await after(Math.min(SETTLE_MS, waitMs))
      signal.throwIfAborted()
      const matched = until === undefined ? null : waited.type === 'matched'
      const unread = await readUnread(acting, pid, { maxChars: most, turn: session.turn })
      const { process, output, more, lost, readTo } = unread
      const missing = matched === false ? 'The reply you wait for has not come yet. ' : ''
      return {
        structured: { matched, process, output, more, lost, readTo },
        text: `${missing}${sentenceOn(process)}\n${shown(unread)}`,
      }
    })
  },
})
