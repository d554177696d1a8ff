import * as z from 'zod'
import { search } from '../../verbs/search.ts'
import { line } from '../../verbs/shapes/output.ts'
import { count } from '../../verbs/shapes/scalars.ts'
import { cut, fitting, maxChars } from '../page.ts'
import { tool } from '../tool.ts'

/** A line of minified code says no more for being whole. */
const LINE_CHARS = 500

const found = line.pick({ number: true, text: true, stream: true })
type Found = z.output<typeof found>
const match = found.extend({ before: z.array(found), after: z.array(found) })

export const processSearch = tool({
  name: 'process_search',
  title: 'Search output',
  description: [
    'Finds lines in everything a process has printed, by text or by RE2 pattern, with lines around them if you ask for',
    'context. Use it for long logs: errors of a build, one request of a server.',
  ].join(' '),
  // Of the verb's own schema, whose rule on text and pattern stands.
  input: search.input.safeExtend({ limit: z.number().int().min(1).max(200).default(20), maxChars }),
  output: z.strictObject({
    matches: z.array(match),
    total: count.describe('how many lines match, from there on'),
    totalIsLeast: z.boolean(),
    next: count.nullable().describe('from for the matches behind these'),
    lost: search.output.shape.truncated.describe('bytes of the log that are not kept any more'),
  }),
  does: 'look',
  async run({ maxChars: most, ...asked }, { perform }) {
    const answer = await perform((acting) => acting.search(asked))
    const all = answer.matches.map(({ before, after, offset, ...rest }) => ({
      offset,
      ...short(rest),
      before: before.map(short),
      after: after.map(short),
    }))
    const kept = fitting(all, sizeOf, most)
    const next = all[kept.length]?.offset ?? answer.next
    const matches = kept.map(({ offset: _, ...rest }) => rest)
    const { total, totalIsLeast, truncated: lost } = answer
    const said = total === 0 ? 'No line matches.' : `${totalIsLeast ? 'At least ' : ''}${total} lines match.`
    const text = [
      `${said}${next === null ? '' : ` More: from: ${next}`}`,
      ...(lost.length === 0 ? [] : ['[Some of the output is not kept any more.]']),
      ...matches.map(shown),
    ].join('\n')
    return { structured: { matches, total, totalIsLeast, next, lost }, text }
  },
})

function short({ number, text, stream }: Found): Found {
  return { number, text: cut(text, LINE_CHARS), ...(stream === undefined ? {} : { stream }) }
}

function sizeOf(one: z.output<typeof match>): number {
  return shown(one).length + 1
}

function shown({ before, after, ...hit }: z.output<typeof match>): string {
  const around = before.length + after.length > 0
  const lines = [
    ...before.map(({ number, text }) => `${number}- ${text}`),
    `${hit.number}: ${hit.text}`,
    ...after.map(({ number, text }) => `${number}- ${text}`),
  ]
  return `${lines.join('\n')}${around ? '\n--' : ''}`
}
