import * as z from 'zod'
import { ReeveError } from '../../core/errors.ts'
import type { Acting } from '../../verbs/reeve.ts'
import { notice } from '../../verbs/shapes/notice.ts'
import { count } from '../../verbs/shapes/scalars.ts'
import { fitting, PAGE_CHARS } from '../page.ts'
import { tool } from '../tool.ts'

/** Clients of one session share what they have read. */
const CONSUMER = 'mcp'

export const inbox = tool({
  name: 'inbox',
  title: 'Read the inbox',
  description: [
    'What your session was told while you were not looking: which processes have ended and how, which are ready, which',
    'printed a line that you watch for. Each is told again until you have acknowledged it: pass next of an answer as',
    'after, and you see only what came since. Look here when you come back. What you waited for with process_wait, or',
    'read to the end with process_log, is not told; what you have just seen for yourself, the next time.',
  ].join(' '),
  input: z.strictObject({
    after: count.exactOptional().describe('next of an earlier answer: everything up to there has been read'),
    limit: z.number().int().min(1).max(200).default(20),
  }),
  output: z.strictObject({
    notices: z.array(notice),
    next: count.describe('after for what comes behind these'),
    before: z.array(notice).describe('of your session before this one, which has ended'),
  }),
  does: 'look',
  async run({ after, limit }, { perform, session }) {
    return perform(async (acting, id) => {
      const scope = `session:${id}`
      if (after !== undefined && after > 0) await acknowledge(acting, scope, after)
      const { turn, previous } = session
      const { notices: read } = await acting.notices({
        ...{ scope, consumer: CONSUMER, limit, turn },
        ...(after === undefined ? {} : { after }),
      })
      session.endTurn()
      const before =
        after === undefined && previous !== null && read.length < limit
          ? (
              await previous.acting.notices({
                ...{
                  scope: `session:${previous.id}`,
                  consumer: CONSUMER,
                  newest: true,
                  limit: limit - read.length,
                },
              })
            ).notices
          : []
      const kept = fitting(
        read,
        // What a process declared for itself may be long; all of it is in the resource of the inbox.
        (one) => Math.max(one.text.length, JSON.stringify(one.payload).length / 2),
        PAGE_CHARS,
        'start',
      )
      const next = kept.at(-1)?.place ?? after ?? 0
      const text = [
        ...(before.length === 0
          ? []
          : ['Of your session before this one, which has ended:', ...before.map((one) => one.text)]),
        ...(before.length === 0 || kept.length === 0 ? [] : ['Of this session:']),
        ...kept.map((one) => one.text),
        before.length + kept.length === 0 ? 'Nothing new.' : `Go on with after: ${next}`,
      ].join('\n')
      return { structured: { notices: kept, next, before }, text }
    })
  },
})

const REFUSED: readonly string[] = ['denied', 'forbidden']

/** Who may only look goes on from where they say, and is told again when they do not. */
async function acknowledge(acting: Acting, scope: string, through: number): Promise<void> {
  try {
    await acting.acknowledge({ scope, consumer: CONSUMER, through })
  } catch (error) {
    if (!(error instanceof ReeveError && REFUSED.includes(error.code))) throw error
  }
}
