import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { followOutput } from '../../../src/command/output/follow.ts'
import { readLines } from '../../../src/command/output/lines.ts'
import { readSince } from '../../../src/command/output/poll.ts'
import { searchLines } from '../../../src/command/output/search.ts'
import { tempFolder } from '../../temp-folder.ts'
import { countingBytes } from './log-writer.ts'

const BYTES = 24_000_000

test('readers of a log that another OS process floods see real bytes, each once, and every gap', async () => {
  const folder = join(tempFolder(), 'log')
  const flooder = spawn(process.execPath, [join(import.meta.dirname, 'flooder.ts'), folder, String(BYTES)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  onTestFinished(() => void flooder.kill('SIGKILL'))
  let final: number | null = null
  const exit = once(flooder, 'exit').then(([code]) => {
    final = code === 0 ? BYTES : -1
  })
  const isRunning = () => final === null
  await Promise.all([
    follow(folder, () => final),
    poll(folder, isRunning),
    lines(folder, isRunning),
    search(folder, isRunning),
    exit,
  ])
  expect(final).toBe(BYTES)
  const last = await readLines(folder, { from: 'end', offset: 0, limit: 1, ansi: 'keep', ended: true })
  expect(last.lines[0]?.text).toBe(String(BYTES / 10 - 1).padStart(9, '0'))
})

async function follow(folder: string, ended: () => number | null) {
  const { signal } = new AbortController()
  const wake = () => new Promise<void>((resolve) => setTimeout(resolve, 1))
  let at = 0
  for await (const { offset, bytes, gap } of followOutput(folder, { from: 0, signal, wake, ended })) {
    expect(gap).toEqual(offset > at ? { from: at, to: offset } : null)
    expect(bytes.equals(countingBytes(offset, offset + bytes.length))).toBe(true)
    at = offset + bytes.length
  }
  expect(at).toBe(BYTES)
}

async function poll(folder: string, isRunning: () => boolean) {
  let cursor = 0
  while (isRunning()) {
    const { text, from, next, truncated } = await readSince(folder, cursor, { maxChars: 5000, ansi: 'strip' })
    expect(truncated).toEqual(from > cursor ? [{ from: cursor, to: from }] : [])
    expect(text).toBe(countingBytes(from, next).toString())
    cursor = next
  }
}

async function lines(folder: string, isRunning: () => boolean) {
  while (isRunning()) {
    const page = await readLines(folder, { from: 'end', offset: 0, limit: 50, ansi: 'keep' })
    for (const { offset, text } of page.lines)
      expect(text).toBe(countingBytes(offset, offset + text.length).toString())
    for (const [index, { number }] of page.lines.entries())
      if (index > 0) expect(number).toBeGreaterThan(page.lines[index - 1]?.number ?? 0)
  }
}

async function search(folder: string, isRunning: () => boolean) {
  while (isRunning()) {
    const { matches } = await searchLines(folder, { pattern: '77$', limit: 100, context: 1 })
    for (const { offset, text } of matches)
      expect(text).toBe(countingBytes(offset, offset + text.length).toString())
  }
}
