import { GLOBAL_OPTIONS } from './global-options.ts'
import type { OptionSpec, OptionSpecs } from './options.ts'
import type { Colours } from './print/colour.ts'
import type { Subcommand, Subcommands } from './subcommand.ts'

const INDENT = 30
const MAX_WIDTH = 100

/** Every subcommand with its summary. */
export async function overviewHelp({ groups, load }: Subcommands, { bold, dim }: Colours): Promise<string[]> {
  const lines = [
    'Usage: reeve <subcommand> [options]',
    '',
    'Runs processes that outlive the program that started them.',
  ]
  for (const [title, names] of groups) {
    lines.push('', bold(title))
    for (const name of names) lines.push(`  ${name.padEnd(12)}${(await load(name))?.summary}`)
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
    "  run and wait exit with the command's own code: 128 + n for a signal, 124 for a timeout, 125 for an error of Reeve.",
    '',
    dim(
      'reeve help <subcommand> describes a subcommand. Name a process by its pid, the beginning of its pid, or its name.',
    ),
  ]
}

export function subcommandHelp(
  subcommand: Subcommand,
  options: OptionSpecs,
  { bold, dim }: Colours,
  terminal: number | undefined,
): string[] {
  const { usage, summary, about, examples } = subcommand
  const width = Math.min(terminal ?? MAX_WIDTH, MAX_WIDTH)
  const lines = usage.map((line, at) => `${at === 0 ? 'Usage:' : '      '} reeve ${line}`)
  lines.push('', summary)
  if (about !== undefined) lines.push('', ...wrapped(about, '', width))
  const own = Object.entries(options)
  if (own.length > 0) lines.push('', bold('Options'), ...own.flatMap((option) => optionLines(option, width)))
  lines.push(
    '',
    bold('Options of every subcommand'),
    ...Object.entries(GLOBAL_OPTIONS).flatMap((option) => optionLines(option, width)),
  )
  if (examples.length > 0) {
    const widest = Math.max(...examples.map(([line]) => line.length))
    lines.push('', bold('Examples'))
    for (const [line, meaning] of examples) lines.push(`  ${line.padEnd(widest)}   ${dim(meaning)}`.trimEnd())
  }
  return lines
}

function optionLines([name, spec]: readonly [string, OptionSpec], width: number): string[] {
  const { short, value, type, about, choices } = spec
  const takes = type === 'flag' ? '' : ` <${value ?? (type === 'duration' ? 'time' : 'value')}>`
  const head = `  ${short === undefined ? '    ' : `-${short}, `}--${name}${takes}`
  const isListed = choices === undefined || choices.every((choice) => about.includes(choice))
  const text = isListed ? about : `${choices.join(', ')}${about === '' ? '' : `; ${about}`}`
  const indent = ' '.repeat(INDENT)
  const [first = '', ...rest] = wrapped(text, indent, width)
  return head.length < INDENT
    ? [`${head.padEnd(INDENT)}${first.trimStart()}`.trimEnd(), ...rest]
    : [head, first, ...rest]
}

/** Wraps each paragraph to the width, and keeps the blank lines between paragraphs. */
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
