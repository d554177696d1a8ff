import type { OutputOf } from '../../verbs/reeve.ts'
import { refuseExtraArguments } from '../arguments.ts'
import { FAILED } from '../exit-code.ts'
import type { Paint } from '../print/colour.ts'
import { onOneLine } from '../print/table.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

type Match = OutputOf<'search'>['matches'][number]

export const search = subcommand({
  name: 'search',
  summary: "Finds lines in a command's output",
  usage: ['search [options] <process> <text>'],
  completes: 'process',
  options: {
    pattern: { type: 'flag', short: 'e', about: 'the text is an RE2 pattern' },
    'ignore-case': { type: 'flag', short: 'i', about: 'match upper and lower case' },
    context: { type: 'number', short: 'C', value: 'lines', about: 'lines before and after each, up to 50' },
    limit: {
      type: 'number',
      short: 'n',
      value: 'count',
      about: 'how many matches; by default 50, up to 1,000',
    },
    from: { type: 'number', value: 'offset', about: 'begin at this byte of the output' },
    stream: { type: 'text', value: 'stream', choices: ['stdout', 'stderr'], about: '' },
    reveal: { type: 'flag', about: 'show secrets unmasked; this is recorded with the process' },
  },
  about: 'Exit code 1 if nothing is found, as with grep.',
  examples: [
    ['reeve search web error', 'by text'],
    ['reeve search -eiC2 web "time(out|d out)"', 'by pattern, in either case, with the lines around'],
  ],
  async run(context) {
    refuseExtraArguments(context, { name: 'search' }, 2)
    const { options, print, args } = context
    const [pid, wanted] = args
    if (pid === undefined || wanted === undefined)
      throw new UsageError('reeve search needs a process and a text.', 'For example: reeve search web error')
    const reeve = await context.acting()
    const { context: around, limit, from, stream } = options
    const found = await reeve.search({
      pid,
      ...(options.pattern ? { pattern: wanted } : { text: wanted }),
      ignoreCase: options['ignore-case'],
      reveal: options.reveal,
      ...(around === undefined ? {} : { context: around }),
      ...(limit === undefined ? {} : { limit }),
      ...(from === undefined ? {} : { from }),
      ...(stream === undefined ? {} : { stream: stream as 'stdout' | 'stderr' }),
    })
    if (print.isJson) print.json(found)
    else {
      const needle = options.pattern ? null : wanted
      for (const [index, match] of found.matches.entries()) {
        if (index > 0 && (around ?? 0) > 0) print.line(print.colours.dim('--'))
        for (const line of linesOf(match, needle, options['ignore-case'], print.colours)) print.line(line)
      }
      if (found.next !== null)
        print.aside(
          `${found.total}${found.totalIsLeast ? ' or more' : ''} matches in all; continue with --from ${found.next}.`,
        )
    }
    return found.matches.length === 0 ? FAILED : 0
  },
})

function linesOf(
  { before, after, ...match }: Match,
  needle: string | null,
  ignoreCase: boolean,
  { dim, green, red }: { dim: Paint; green: Paint; red: Paint },
): string[] {
  const beside = (line: { number: number; text: string }) => dim(`${line.number + 1}-${onOneLine(line.text)}`)
  const text = marked(onOneLine(match.text), needle, ignoreCase, red)
  return [...before.map(beside), `${green(String(match.number + 1))}:${text}`, ...after.map(beside)]
}

function marked(text: string, needle: string | null, ignoreCase: boolean, paint: Paint): string {
  if (needle === null) return text
  const at = ignoreCase ? text.toLowerCase().indexOf(needle.toLowerCase()) : text.indexOf(needle)
  if (at === -1) return text
  const end = at + needle.length
  return `${text.slice(0, at)}${paint(text.slice(at, end))}${text.slice(end)}`
}
