import * as z from 'zod'
import { commandStream } from '../../verbs/shapes/output.ts'
import { processRef } from '../../verbs/shapes/scalars.ts'
import { unlisted } from '../input-schema.ts'
import { charsFor, cut, fitting, maxChars, outputRoom, pageOf } from '../page.ts'
import { tool } from '../tool.ts'

const STDERR = 'stderr: '

export const processLog = tool({
  name: 'process_log',
  title: 'Read output',
  description: [
    'Output lines of a process: the last ones, or from a given line, also after its end. To find something in a',
    'long log use process_search.',
  ].join(' '),
  searchHint: 'read logs, output of process, last lines, tail log, stdout stderr',
  input: z.strictObject({
    pid: processRef.describe('pid or name'),
    line: z
      .number()
      .int()
      .min(1)
      .exactOptional()
      .describe('first line, counted from 1; by default the last lines'),
    limit: z.number().int().min(1).max(2_000).default(100).describe('most lines'),
    stream: commandStream.exactOptional().describe('needs output: tagged in process_start'),
    raw: unlisted(z.boolean().default(false).describe('with escape sequences')),
    maxChars,
  }),
  effect: 'read',
  async run({ pid, line, limit, stream: of, raw, maxChars: most }, { perform, structured }) {
    const from = line === undefined ? 'end' : 'start'
    const read = await perform((acting) =>
      acting.log({
        pid,
        from,
        limit,
        offset: line === undefined ? 0 : line - 1,
        ansi: raw ? 'keep' : 'render',
        ...(of === undefined ? {} : { stream: of }),
      }),
    )
    // Structured content is measured as JSON, where a line may take twice as much.
    const room = outputRoom(most, false)
    const lineRoom = structured ? Math.floor(room / 2) : room
    const mostOfLine = lineRoom - STDERR.length
    const { total, truncated: lost } = read
    const all = read.lines.map(({ offset: _, number, ...rest }) => ({
      ...rest,
      number: number + 1,
      text: cut(rest.text, mostOfLine),
    }))
    const lines = fitting(
      all,
      (one) => (structured ? JSON.stringify(one) : shown(one)).length + 1,
      room,
      from,
    )
    const first = lines[0]?.number ?? 1
    const last = lines.at(-1)?.number ?? 0
    const before = Math.min(limit, first - 1)
    const earlier = before > 0 ? { line: first - before, limit: before } : null
    const later = lines.length > 0 && last < total ? { line: last + 1, limit } : null
    const where =
      lines.length === 0
        ? `No lines here; ${total} in all.`
        : [
            `Lines ${first} to ${last} of ${total}`,
            ...(earlier === null ? [] : [`earlier: ${JSON.stringify(earlier)}`]),
            ...(later === null ? [] : [`later: ${JSON.stringify(later)}`]),
          ].join('; ')
    const longest = read.lines
      .filter(({ number, text }) => number + 1 >= first && number < last && text.length > mostOfLine)
      .sort((one, other) => other.text.length - one.text.length)[0]
    const notes = longest === undefined ? [] : [cutNote(longest, structured)]
    const gap = lost.length === 0 ? '' : '\n[Some output was removed.]'
    return {
      structured: { lines, total, earlier, later, lost },
      text: pageOf({ head: `${where}${gap}`, body: lines.map(shown).join('\n'), notes }, most),
    }
  },
})

function cutNote(line: { readonly number: number; readonly text: string }, structured: boolean): string {
  const lineChars = line.text.length + STDERR.length
  const chars = charsFor(structured ? 2 * lineChars : lineChars)
  const remedy = chars === null ? 'process_search finds parts of it' : `maxChars: ${chars} shows it whole`
  return `[Line ${line.number + 1} is cut: ${remedy}.]`
}

function shown({ text, stream: of }: { readonly text: string; readonly stream?: string }): string {
  return of === 'stderr' ? `${STDERR}${text}` : text
}
