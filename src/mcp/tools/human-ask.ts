import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { ask } from '../../verbs/ask.ts'
import { duration } from '../../verbs/shapes/scalars.ts'
import { waitingIn } from '../approvals/prompts.ts'
import { unlisted } from '../input-schema.ts'
import { cut, PAGE_CHARS } from '../page.ts'
import { describeProcess, duration as inWords } from '../process-sentences.ts'
import { structuredView, viewOf } from '../process-view.ts'
import { tool } from '../tool.ts'

const { question, choices, person, priority, reason } = ask.input.shape

const DEFAULT_MS = 30_000

export const humanAsk = tool({
  name: 'human_ask',
  title: 'Ask a person',
  description: [
    'Asks a person a question and waits for the reply: for what only a person can decide. It outlives you: after "Not yet"',
    'go on with process_wait and its pid, or read the reply in the inbox later.',
  ].join(' '),
  searchHint: 'ask user, ask human, question to a person, decision, confirmation',
  input: z.strictObject({
    question: question.describe('what you want to know'),
    choices: choices.describe('possible replies; without them any text'),
    timeoutMs: unlisted(duration.max(3_600_000).default(DEFAULT_MS)),
    person: unlisted(person),
    priority: unlisted(priority),
    reason: unlisted(reason),
  }),
  effect: 'change',
  startsDaemon: true,
  async run({ timeoutMs, ...asked }, call) {
    const { perform, prompt, resumed, waiting, signal, msLeft } = call
    return perform(async (acting, session) => {
      const [before] = resumed
      // Asked once: a repeated call brings the reply to the first one.
      const begun =
        before === undefined
          ? (await acting.ask({ ...asked, owner: { session }, idempotencyKey: `mcp-${randomUUID()}` })).record
          : await acting.show({ pid: before })
      const { pid } = begun
      const waitMs = Math.min(timeoutMs, msLeft())
      await prompt.beforeWait(acting, waitingIn(begun), waitMs)
      const message = `waiting for the reply to ${pid}`
      const left = Math.min(waitMs, msLeft())
      const waited = await waiting(
        { totalMs: left, message },
        acting.wait({ pid, timeoutMs: left }, { signal }),
      )
      signal.throwIfAborted()
      const process = viewOf(waited.type === 'interrupted' ? begun : waited.record)
      const finished = process.endedAt !== null
      const text = finished
        ? describeProcess(process)
        : `Not yet: waited ${inWords(left)}. ${describeProcess(process)}\nGo on with process_wait and pid ${pid}.`
      return { structured: { finished, process: structuredView(process) }, text: cut(text, PAGE_CHARS) }
    })
  },
})
