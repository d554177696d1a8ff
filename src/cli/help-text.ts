import { GLOBAL_OPTIONS } from './global-options.ts'
import type { OptionSpec, OptionSpecs } from './options.ts'
import type { Colours } from './print/colour.ts'
import type { Word, Words } from './word.ts'

const INDENT = 30
const MAX_WIDTH = 100

/** Every word with its one line. */
export async function overviewHelp(words: Words, { bold, dim }: Colours): Promise<string[]> {
  const lines = ['Usage: reeve <word> [options]', '', 'Processes that outlive whoever started them.']
  for (const [title, names] of words.groups) {
    lines.push('', bold(title))
    for (const name of names) lines.push(`  ${name.padEnd(12)}${(await words.load(name))?.summary}`)
  }
  const codes = [
    ['0', 'done'],
    ['1', 'failed'],
    ['2', 'called wrongly'],
    ['3', 'not found'],
    ['4', 'denied'],
    ['5', 'conflict'],
  ]
  return [
    ...lines,
    '',
    bold('Exit codes'),
    `  ${codes.map(([code, meaning]) => `${code} ${meaning}`).join(', ')}.`,
    "  run and wait pass on the command's own: 128 + n for a signal, 124 for a timeout, 125 for an error of Reeve.",
    '',
    dim(
      'reeve help <word> says what a word takes. A process is named by its pid, the beginning of one, or its name.',
    ),
  ]
}

export function subcommandHelp(
  word: Word,
  options: OptionSpecs,
  { bold, dim }: Colours,
  terminal: number | undefined,
): string[] {
  const width = Math.min(terminal ?? MAX_WIDTH, MAX_WIDTH)
  const lines = word.usage.map((usage, at) => `${at === 0 ? 'Usage:' : '      '} reeve ${usage}`)
  lines.push('', word.summary)
  if (word.about !== undefined) lines.push('', ...wrapped(word.about, '', width))
  const own = Object.entries(options)
  if (own.length > 0) lines.push('', bold('Options'), ...own.flatMap((option) => optionLines(option, width)))
  lines.push(
    '',
    bold('Options of every word'),
    ...Object.entries(GLOBAL_OPTIONS).flatMap((option) => optionLines(option, width)),
  )
  if (word.examples.length > 0) {
    const wide = Math.max(...word.examples.map(([line]) => line.length))
    lines.push('', bold('Examples'))
    for (const [line, meaning] of word.examples) lines.push(`  ${line.padEnd(wide)}   ${dim(meaning)}`)
  }
  return lines
}

function optionLines([name, spec]: readonly [string, OptionSpec], width: number): string[] {
  const { short, value, type, about, choices } = spec
  const takes = type === 'flag' ? '' : ` <${value ?? (type === 'duration' ? 'time' : 'value')}>`
  const head = `  ${short === undefined ? '    ' : `-${short}, `}--${name}${takes}`
  const text = choices === undefined ? about : `${choices.join(', ')}${about === '' ? '' : `; ${about}`}`
  const indent = ' '.repeat(INDENT)
  const [first = '', ...rest] = wrapped(text, indent, width)
  return head.length < INDENT
    ? [`${head.padEnd(INDENT)}${first.trimStart()}`.trimEnd(), ...rest]
    : [head, first, ...rest]
}

/** Paragraphs stay apart; within one, lines are as long as fits. */
function wrapped(text: string, indent: string, width: number): string[] {
  return text
    .trim()
    .split(/\n\n+/)
    .flatMap((paragraph, at) => {
      const lines: string[] = at === 0 ? [] : ['']
      let line = indent
      for (const word of paragraph.split(/\s+/)) {
        const isFull = line !== indent && line.length + 1 + word.length > width
        if (isFull) lines.push(line)
        line = isFull || line === indent ? `${indent}${word}` : `${line} ${word}`
      }
      return [...lines, line]
    })
}
