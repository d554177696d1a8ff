import type { Figure } from './figure.ts'

/** All figures as one table, and a line about the goals. */
export function table(figures: readonly Figure[]): string {
  const head = ['figure', 'value', '', 'ratio', 'against', 'goal', '']
  const rows = figures.map(({ name, value, unit, ratio, against, goal, met }) => [
    name,
    value.toLocaleString('en-US'),
    unit,
    ratio === null ? '' : `${ratio} ×`,
    against ?? '',
    goal ?? '',
    met === undefined ? '' : met ? 'met' : 'MISSED',
  ])
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) =>
        NUMBERS.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd()
  return [line(head), ...rows.map(line), '', verdict(figures)].join('\n')
}

const NUMBERS: ReadonlySet<number> = new Set([1, 3])

function verdict(figures: readonly Figure[]): string {
  const judged = figures.filter(({ met }) => met !== undefined)
  const missed = judged.filter(({ met }) => met === false).map(({ name }) => name)
  const met = judged.length - missed.length
  const said = `Goals: ${met} of ${judged.length} met`
  return missed.length === 0 ? `${said}.` : `${said}; missed: ${missed.join('; ')}.`
}
