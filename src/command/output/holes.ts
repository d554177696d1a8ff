import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { HOLES_NAME } from '../../output-log/log-format.ts'
import type { Gap } from './layout.ts'
import { orMissing } from './missing.ts'

/**
 * The freed ranges of a log that its program writes itself, up to `end`. A line is written before its range is freed: a reader
 * that reads the bytes first and the holes afterwards never takes freed bytes for output.
 */
export async function holesOf(folder: string, end: number): Promise<Gap[]> {
  const text = await orMissing(readFile(join(folder, HOLES_NAME), 'utf8'))
  if (text === null) return []
  // The text behind the last newline is a line in progress, whose range is not freed yet.
  const lines = text.split('\n').slice(0, -1)
  return lines
    .map((line) => line.split(' ').map(Number))
    .map(([from = Number.NaN, to = Number.NaN]) => ({ from, to: Math.min(to, end) }))
    .filter(({ from, to }) => from < to)
}
