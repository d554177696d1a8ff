import { setTimeout as after } from 'node:timers/promises'
import * as z from 'zod'
import { duration, processRef } from '../../verbs/shapes/scalars.ts'
import { submit } from '../../verbs/submit.ts'
import { wait } from '../../verbs/wait.ts'
import { unlisted } from '../input-schema.ts'
import { maxChars, outputRoom, pageOf } from '../page.ts'
import { describeProcess } from '../process-sentences.ts'
import { waitForReply } from '../reply.ts'
import { tool } from '../tool.ts'
import { partsOf, readUnread, structuredUnread } from '../unread.ts'
import { lastPrinted, printedText, settledText } from '../wait-answer.ts'

/** The first output is often an echo; the reply follows at once. */
const SETTLE_MS = 150
const untilShape = wait.input.shape.until.unwrap().shape

export const processWrite = tool({
  name: 'process_write',
  title: 'Type into a process',
  description: [
    'Types into a process that has a terminal (pty) or an open input (stdin: pipe), waits a moment and answers with its',
    'output. Set enter for a line. Keys: "\\u0003" is Ctrl-C, "\\u001b" Escape, "\\u001b[A" the up arrow. With until it',
    'waits for the next prompt or answer.',
  ].join(' '),
  searchHint: 'type input, send keys, answer prompt, write to stdin, REPL',
  input: z
    .strictObject({
      pid: processRef.describe('pid or name'),
      text: submit.input.shape.text.default('').describe('text to type, unchanged'),
      enter: z.boolean().default(false).describe('press Enter after it'),
      end: z.boolean().default(false).describe('close its input after it; in a terminal: Ctrl-D'),
      until: z
        .strictObject({
          text: untilShape.text.describe('text in the line'),
          pattern: untilShape.pattern.describe('or an RE2 pattern'),
        })
        .refine(
          ({ text, pattern }) => (text === undefined) !== (pattern === undefined),
          'give either text or pattern',
        )
        .exactOptional()
        .describe('a line to wait for, printed in reply'),
      waitMs: duration.max(30_000).default(1_000).describe('how long to wait for a reply'),
      maxChars: unlisted(maxChars),
    })
    .refine(
      ({ text, enter, end }) => text !== '' || enter || end,
      'there is nothing to type: give text, enter or end',
    ),
  effect: 'change',
  async run({ pid, text, enter, end, until, waitMs, maxChars: most }, call) {
    const { perform, session, signal, waiting, structured, msLeft } = call
    return perform(async (acting) => {
      const typed = enter
        ? await acting.submit({ pid, text })
        : text === ''
          ? null
          : await acting.write({ pid, text })
      if (end) await acting.closeInput({ pid })
      // Without `until`, any output counts as a reply.
      const anything = typed === null ? {} : { until: { pattern: '\\S', from: typed.end } }
      const timeoutMs = Math.min(waitMs, msLeft())
      const waited = await waiting(
        { totalMs: timeoutMs, message: `waiting for ${pid} to answer` },
        typed === null || until === undefined
          ? acting.wait({ pid, timeoutMs, ...anything }, { signal })
          : waitForReply(acting, { pid, typed: text, from: typed.end, until, timeoutMs }, signal),
      )
      if (waited.type === 'matched' && until === undefined) await after(Math.min(SETTLE_MS, waitMs))
      signal.throwIfAborted()
      const matched = until === undefined ? null : waited.type === 'matched'
      const room = outputRoom(most, structured)
      // The name may refer to a restarted process by now.
      const ref = waited.type === 'interrupted' ? pid : waited.record.pid
      const unread = await readUnread(acting, ref, { room, turn: session.turn, session })
      const finished = unread.process.endedAt !== null
      const line =
        until !== undefined && waited.type === 'matched' ? lastPrinted(waited.line.text, until.text) : null
      const missing = finished
        ? settledText('ended', 'line', finished)
        : 'The awaited reply has not come yet. '
      const happened = line === null ? (matched === false ? missing : '') : printedText(line)
      const { above, body, notes } = partsOf(unread)
      return {
        structured: { matched, ...(line === null ? {} : { line }), ...structuredUnread(unread) },
        text: pageOf({ head: `${happened}${describeProcess(unread.process)}${above}`, body, notes }, most),
      }
    })
  },
})
