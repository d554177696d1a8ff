import * as z from 'zod'
import { log } from '../../verbs/log.ts'
import { line } from '../../verbs/shapes/output.ts'
import { count } from '../../verbs/shapes/scalars.ts'
import { cut, fitting, maxChars } from '../page.ts'
import { tool } from '../tool.ts'

const page = z.strictObject({ from: z.literal('start'), offset: count, limit: count })

export const processLog = tool({
  name: 'process_log',
  title: 'Read output',
  description: [
    'Lines of what a process has printed, from its log on disk: the last ones by default, or a page from the start.',
    'It can be read again at any time, also after the end. To find something in a long log use process_search.',
  ].join(' '),
  input: log.input.extend({ limit: z.number().int().min(1).max(2_000).default(100), maxChars }),
  output: z.strictObject({
    lines: z.array(line.omit({ offset: true })),
    total: log.output.shape.total.describe('how many lines there are'),
    earlier: page.nullable().describe('arguments for the page before this one'),
    later: page.nullable().describe('arguments for the page behind this one'),
    lost: log.output.shape.truncated.describe('bytes of the log that are not kept any more'),
  }),
  does: 'look',
  async run({ maxChars: most, ...asked }, { perform }) {
    const read = await perform((acting) => acting.log(asked))
    const cutLines = read.lines.map(({ offset: _, ...rest }) => ({ ...rest, text: cut(rest.text, most) }))
    const lines = fitting(cutLines, ({ text }) => text.length + 1, most, asked.from)
    const first = lines[0]?.number ?? 0
    const behind = (lines.at(-1)?.number ?? -1) + 1
    const { limit } = asked
    const { total, truncated: lost } = read
    const earlierAt = Math.max(0, first - limit)
    const earlier = first > 0 ? { from: 'start' as const, offset: earlierAt, limit: first - earlierAt } : null
    const later =
      lines.length > 0 && behind < total ? { from: 'start' as const, offset: behind, limit } : null
    const shown = lines.map(({ text, stream }) => (stream === 'stderr' ? `stderr: ${text}` : text)).join('\n')
    const where =
      lines.length === 0
        ? `No lines here; ${total} in all.`
        : `Lines ${first} to ${behind - 1} of ${total}, counted from 0${earlier === null ? '' : `; earlier: ${JSON.stringify(earlier)}`}${later === null ? '' : `; later: ${JSON.stringify(later)}`}`
    const gap = lost.length === 0 ? '' : '\n[Some of the output is not kept any more.]'
    return {
      structured: { lines, total, earlier, later, lost },
      text: `${where}${gap}${lines.length === 0 ? '' : `\n${shown}`}`,
    }
  },
})
