import * as z from 'zod'
import { notices as verb } from '../../verbs/notices.ts'
import { count } from '../../verbs/shapes/scalars.ts'
import { type Notice, newestNotices } from '../newest-notices.ts'
import { fitting, PAGE_CHARS } from '../page.ts'
import { tool } from '../tool.ts'
import { duration } from '../words.ts'

const notice = verb.output.shape.notices.element

export const inbox = tool({
  name: 'inbox',
  title: 'Read the inbox',
  description: [
    'What your session was told while you were not looking: which processes have ended, and how. The newest notices by',
    'default; pass next of an answer as after to see only what came since. Look here when you come back.',
  ].join(' '),
  input: z.strictObject({
    after: count.exactOptional().describe('next of an earlier answer: only what came since'),
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
      const read =
        after === undefined
          ? await newestNotices(acting, id, limit)
          : (await acting.notices({ scope: `session:${id}`, after, limit })).notices
      const { previous } = session
      const before =
        after === undefined && previous !== null && read.length < limit
          ? await newestNotices(previous.acting, previous.id, limit - read.length)
          : []
      const kept = fitting(
        read,
        // What a process declared for itself may be long; all of it is in the resource of the inbox.
        (one) => Math.max(sentenceOf(one).length, JSON.stringify(one.payload).length / 2),
        PAGE_CHARS,
        after === undefined ? 'end' : 'start',
      )
      const next = kept.at(-1)?.place ?? after ?? 0
      const text = [
        ...(before.length === 0
          ? []
          : ['Of your session before this one, which has ended:', ...before.map(sentenceOf)]),
        ...(before.length === 0 || kept.length === 0 ? [] : ['Of this session:']),
        ...kept.map(sentenceOf),
        before.length + kept.length === 0 ? 'Nothing new.' : `Go on with after: ${next}`,
      ].join('\n')
      return { structured: { notices: kept, next, before }, text }
    })
  },
})

function sentenceOf({ pid, kind, at, payload }: Notice): string {
  const ago = `${duration(Date.now() - at)} ago`
  const said = Object(payload) as { label?: unknown; status?: unknown; exitCode?: unknown; reason?: unknown }
  if (kind !== 'completion') return `${pid} ${kind}, ${ago}: ${JSON.stringify(payload).slice(0, 300)}`
  const code = typeof said.exitCode === 'number' ? [`exit code ${said.exitCode}`] : []
  const reason = typeof said.reason === 'string' ? [said.reason] : []
  const how = [...code, ...reason].join(', ')
  return `${pid} ${String(said.status)}${how === '' ? '' : ` (${how})`}, ${ago}: ${String(said.label).slice(0, 120)}`
}
