import * as z from 'zod'
import { search } from '../../verbs/search.ts'
import { commandStream } from '../../verbs/shapes/output.ts'
import { count, processRef } from '../../verbs/shapes/scalars.ts'
import { cutAround, fitting, maxChars, outputRoom, pageOf } from '../page.ts'
import { counted } from '../process-sentences.ts'
import { tool } from '../tool.ts'

/** Longer lines, such as minified code, are cut. */
const LINE_CHARS = 500

const { text, pattern, ignoreCase, context } = search.input.shape

interface Found {
  /** From 1. */
  readonly number: number
  readonly text: string
  readonly stream?: string | undefined
}
interface Match extends Found {
  readonly before: readonly Found[]
  readonly after: readonly Found[]
}

export const processSearch = tool({
  name: 'process_search',
  title: 'Search output',
  description: [
    'Finds lines in all output of a process, by text or RE2 pattern, with context around them. For long logs: errors of',
    'a build, one request of a server.',
  ].join(' '),
  searchHint: 'search logs, grep output, find errors in build log',
  input: z
    .strictObject({
      pid: processRef.describe('pid or name'),
      text: text.describe('text in the line'),
      pattern: pattern.describe('or an RE2 pattern'),
      ignoreCase: ignoreCase.describe('ignore case'),
      context: context.describe('lines before and after each'),
      from: count.default(0).describe('byte to begin at: "more" of an answer'),
      stream: commandStream.exactOptional().describe('needs output: tagged in process_start'),
      limit: z.number().int().min(1).max(200).default(20).describe('most matches'),
      maxChars,
    })
    .refine(
      ({ text, pattern }) => (text === undefined) !== (pattern === undefined),
      'give either text or pattern',
    ),
  effect: 'read',
  async run({ maxChars: most, ...asked }, { perform, structured }) {
    const answer = await perform((acting) => acting.search({ ...asked, ansi: 'render' }))
    // Structured content is measured as JSON, where a line may take twice as much.
    const room = outputRoom(most, false)
    const lineRoom = structured ? Math.floor(room / 2) : room
    const short = ({ number, text, stream }: Found, at = 0): Found => ({
      number: number + 1,
      text: cutAround(text, at, Math.min(LINE_CHARS, lineRoom)),
      ...(stream === undefined ? {} : { stream }),
    })
    const all = answer.matches.map(({ before, after, offset, at, ...rest }) => ({
      offset,
      match: {
        ...short(rest, at),
        before: before.map((one) => short(one)),
        after: after.map((one) => short(one)),
      },
    }))
    const sizeOf = (match: Match) => (structured ? JSON.stringify(match) : shown(match)).length + 1
    const kept = fitting(all, ({ match }) => sizeOf(match), room)
    const next = all[kept.length]?.offset ?? answer.next
    const matches = kept.map(({ match }) => match)
    const { total, totalIsLeast, truncated: lost } = answer
    const said =
      total === 0
        ? 'No line matches.'
        : `${totalIsLeast ? 'At least ' : ''}${counted(total, 'line matches', 'lines match')}.`
    const more = next === null ? '' : ` More: from: ${next}`
    const gap = lost.length === 0 ? '' : '\n[Some output was removed.]'
    return {
      structured: { matches, total, totalIsLeast, next, lost },
      text: pageOf({ head: `${said}${more}${gap}`, body: matches.map(shown).join('\n') }, most),
    }
  },
})

function shown({ before, after, ...hit }: Match): string {
  const around = before.length + after.length > 0
  const lines = [
    ...before.map(({ number, text }) => `${number}- ${text}`),
    `${hit.number}: ${hit.text}`,
    ...after.map(({ number, text }) => `${number}- ${text}`),
  ]
  return `${lines.join('\n')}${around ? '\n--' : ''}`
}
