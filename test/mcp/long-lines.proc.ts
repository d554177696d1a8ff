import { expect, test } from 'vitest'
import { TempReeve } from '../temp-reeve.ts'
import { textOf, WAYS } from './connected.ts'

const LONG = `echo first; printf '%09000d' 0; echo ' The End 💥'; printf '%0900d\\n' 0`

test('a search shows the part of a long line that matches, by text and by pattern', async () => {
  await using temp = new TempReeve()
  const client = await WAYS.stdio(await temp.embed(), { era: 'modern' })
  await textOf(client, 'process_start', { run: LONG, name: 'long', waitMs: 30_000 })
  const wanted = [
    { text: 'The End' },
    { text: 'the eND', ignoreCase: true },
    { pattern: 'The E.d' },
    { pattern: 'the e.d', ignoreCase: true },
  ]
  for (const one of wanted) {
    const found = await textOf(client, 'process_search', { pid: 'long', ...one })
    expect(found).toMatch(/^1 line matches\.\n2: …0+ The End 💥$/)
    expect(found.length).toBeLessThan(600)
  }
  const beginning = await textOf(client, 'process_search', { pid: 'long', pattern: '^0+ The' })
  expect(beginning).toMatch(/^1 line matches\.\n2: 0+…$/)
})

test('a log with a line that does not fit says that a larger maxChars shows it', async () => {
  await using temp = new TempReeve()
  const client = await WAYS.stdio(await temp.embed(), { era: 'modern' })
  await textOf(client, 'process_start', { run: LONG, name: 'long', waitMs: 30_000 })
  const cut = await textOf(client, 'process_log', { pid: 'long', line: 2, limit: 1 })
  expect(cut).toMatch(/^Lines 2 to 2 of 3.*\[Line 2 is cut: maxChars: \d+ shows it whole\.\]/s)
  const maxChars = Number(/maxChars: (\d+)/.exec(cut)?.[1])
  const whole = await textOf(client, 'process_log', { pid: 'long', line: 2, limit: 1, maxChars })
  expect(whole).toContain('The End')
  expect(whole).not.toContain('is cut')
})
