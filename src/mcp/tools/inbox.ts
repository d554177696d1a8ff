import * as z from 'zod'
import { ReeveError } from '../../core/errors.ts'
import type { OutputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import { count } from '../../verbs/shapes/scalars.ts'
import { cut, fitting, PAGE_CHARS } from '../page.ts'
import { tool } from '../tool.ts'

/** Each connection of a session is one reader of this consumer. */
const CONSUMER = 'mcp'

export const inbox = tool({
  name: 'inbox',
  title: 'Read the inbox',
  description: [
    'What happened while you were away: processes that ended and how, became ready, or printed a line that you watch for.',
    'Read it when you come back. Each notice is repeated until you pass the after of an answer. Results of process_wait',
    'are left out.',
  ].join(' '),
  searchHint: 'notifications, what happened, what has finished, events while away',
  input: z.strictObject({
    after: count.exactOptional().describe('from an earlier answer: everything up to there has been read'),
    limit: z.number().int().min(1).max(200).default(20).describe('most notices'),
  }),
  effect: 'read',
  async run({ after, limit }, { perform, session }) {
    return perform(async (acting, id) => {
      const scope = `session:${id}`
      if (after !== undefined && after > 0) await acknowledge(acting, scope, after)
      const { turn, previous } = session
      const { notices: unread, isAll } = await readUnseen(acting, { scope, turn, limit, after })
      const read = unread.slice(0, limit)
      session.endTurn()
      const before =
        after === undefined && previous !== null && read.length < limit
          ? (
              await previous.acting.notices({
                scope: `session:${previous.id}`,
                consumer: CONSUMER,
                newest: true,
                limit: limit - read.length,
              })
            ).notices
          : []
      const current = read.map(shortened)
      const older = fitting(before.map(shortened), sizeOf, INBOX_CHARS, 'end')
      const room = INBOX_CHARS - older.reduce((sum, one) => sum + sizeOf(one), 0)
      const kept = fitting(current, sizeOf, Math.max(0, room))
      const next = kept.at(-1)?.position ?? after ?? 0
      const more = unread.length - kept.length
      const text = [
        ...(older.length === 0
          ? []
          : ['From your previous session, which has ended:', ...older.map((one) => one.text)]),
        ...(older.length === 0 || kept.length === 0 ? [] : ['From this session:']),
        ...kept.map((one) => one.text),
        older.length + kept.length === 0
          ? 'Nothing new.'
          : more === 0
            ? `That is all. Mark as read with after: ${next}`
            : `${isAll ? '' : 'At least '}${more} more: inbox with after: ${next}`,
      ].join('\n')
      return { structured: { notices: kept, next, more, before: older }, text }
    })
  },
})

/** How many notices after the page are counted. */
const COUNTED_AHEAD = 50
/** A page may be empty, because it leaves out notices that this turn has seen. */
const MAX_PAGES = 50

interface Wanted {
  readonly scope: string
  readonly turn: string
  readonly limit: number
  readonly after: number | undefined
}

/** Reads pages until there are more notices than `limit`, or no more. */
async function readUnseen(acting: ReeveVerbs, { scope, turn, limit, after }: Wanted) {
  const notices: Notice[] = []
  const asked = { scope, consumer: CONSUMER, turn, limit: limit + COUNTED_AHEAD }
  let from = after
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await acting.notices({ ...asked, ...(from === undefined ? {} : { after: from }) })
    notices.push(...page.notices)
    if (!page.more) return { notices, isAll: true }
    if (notices.length > limit) break
    from = page.next
  }
  return { notices, isAll: false }
}

/** The rest is for the lines around the notices. */
const INBOX_CHARS = PAGE_CHARS - 200

type Notice = OutputOf<'notices'>['notices'][number]

/** The text of a notice, without its facts; those are in the inbox resource. */
function shortened({ position, pid, kind, at, text, scope }: Notice) {
  const said = kind === 'completion' ? text.replace(`asked by ${scope}`, 'asked by you') : text
  return { position, pid, kind, at: new Date(at).toISOString(), text: cut(said, INBOX_CHARS / 2) }
}

function sizeOf({ text }: { readonly text: string }): number {
  return text.length + 1
}

const REFUSED: readonly string[] = ['denied', 'forbidden']

/** A client that may only read cannot acknowledge: it goes on from `after`, and gets notices again without it. */
async function acknowledge(acting: ReeveVerbs, scope: string, through: number): Promise<void> {
  try {
    await acting.acknowledge({ scope, consumer: CONSUMER, through })
  } catch (error) {
    if (!(error instanceof ReeveError && REFUSED.includes(error.code))) throw error
  }
}
