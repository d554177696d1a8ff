import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Masker } from '../../src/redaction/masker.ts'
import { innocent, secrets } from './blind-corpus.ts'
import { shows } from './corpus.ts'
import { secondSecrets } from './second-blind-corpus.ts'

const MAX_LEAK_RATE = 0.05
const MAX_FALSE_MASKS_PER_LINE = 1 / 10_000
/** Sources and documentation without credentials, even as examples. */
const REAL_TEXTS = [
  'typescript',
  'vite',
  'vitest',
  'fast-check',
  're2js',
  'knip',
  '@biomejs',
  'rolldown',
  'ws',
]
const TEXT_FILE = /\.(?:md|[cm]?[jt]s|json|txt)$/

const masker = new Masker()
const mask = (text: string) => masker.bytes(Buffer.from(text)).toString()

test.each([
  { name: 'first', texts: secrets },
  { name: 'second', texts: secondSecrets },
])('at most 5 % of the secrets of the $name blind corpus leak', ({ name, texts }) => {
  const leaks = texts.filter(({ text, secret }) =>
    shows(mask(text), { secrets: typeof secret === 'string' ? [secret] : secret }),
  )
  const rate = leaks.length / texts.length
  process.stdout.write(
    `Blind corpus, ${name}: ${leaks.length} of ${texts.length} secrets leak (${(rate * 100).toFixed(1)} %).\n`,
  )
  for (const { family, text } of leaks) process.stdout.write(`  ${family}: ${JSON.stringify(text)}\n`)
  expect(rate).toBeLessThanOrEqual(MAX_LEAK_RATE)
})

test('the blind corpus and real text have at most one false mask in 10,000 lines', () => {
  const texts = [...innocent, ...readmesAndSources()]
  let lines = 0
  const masked: string[] = []
  for (const text of texts) {
    const before = text.split('\n')
    const after = mask(text).split('\n')
    lines += before.length
    masked.push(...after.filter((line, index) => line !== before[index]))
  }
  process.stdout.write(`Harmless text: ${masked.length} false masks in ${lines} lines.\n`)
  for (const line of masked) process.stdout.write(`  ${line.trim().slice(0, 200)}\n`)
  expect(lines).toBeGreaterThan(200_000)
  expect(masked.length / lines).toBeLessThanOrEqual(MAX_FALSE_MASKS_PER_LINE)
})

test('no harmless text of the blind corpus is masked', () => {
  expect(innocent.filter((text) => mask(text) !== text)).toEqual([])
})

function readmesAndSources(): string[] {
  return REAL_TEXTS.flatMap((name) =>
    readdirSync(join('node_modules', name), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && TEXT_FILE.test(entry.name))
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8')),
  )
}
