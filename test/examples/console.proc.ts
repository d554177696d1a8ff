/**
 * Runs the commands of the documentation and compares their output. The blocks of one page that begin with ```console run
 * are one shell session with its own home: `$ ` begins a command, a line that begins with `> ` continues it, and all
 * other lines are output. `…` matches anything, within a line or as a line; pids, times and column widths may
 * differ.
 */
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { leftBy } from './left-by.ts'
import { run } from './run-node.ts'

interface Step {
  readonly typed: string
  readonly shown: readonly string[]
}

const pages = ['README.md', ...globSync('docs/*.md').sort()]
  .map((page) => ({ page, steps: stepsOf(page) }))
  .filter(({ steps }) => steps.length > 0)

/** Values that differ in each run: any value of the same kind matches. */
const changing: readonly (readonly [shown: RegExp, pattern: string])[] = [
  [/p_[0-9a-z]{12}/g, 'p_[0-9a-z]{12}'],
  [/\b\d+m?s ago|just now/g, '(\\d+m?s ago|just now)'],
  [/ {2}\d+m?s\b(?! ago)/g, '  \\d+m?s'],
  [/ {2,}/g, ' {2,}'],
  [/…/g, '.*'],
]

test('README.md and the pages that explain a task have something to type', () => {
  const wanted = ['run-a-command-in-the-background', 'see-what-it-prints', 'http'].map(
    (name) => `docs/${name}.md`,
  )
  expect(pages.map(({ page }) => page)).toEqual(expect.arrayContaining(['README.md', ...wanted]))
})

test.for(pages)('the commands of $page print what it shows', async ({ page, steps }, { skip }) => {
  const missing = ['curl', 'jq'].filter(
    (tool) => steps.some(({ typed }) => typed.includes(tool)) && !isThere(tool),
  )
  skip(missing.length > 0, `needs ${missing.join(' and ')}`)
  const place = mkdtempSync(join(tmpdir(), `${basename(page, '.md').toLowerCase()}-`))
  onTestFinished(() => rmSync(place, { recursive: true, force: true }))
  const env = {
    PATH: `${launcherIn(place)}:${process.env['PATH']}`,
    TMPDIR: place,
    REEVE_HOME: join(place, 'home'),
    REEVE_LISTEN: '127.0.0.1:0',
    REEVE_ENVIRONMENT: 'inherit',
  }
  const script = [...steps.map(({ typed }, at) => `echo "@@${at}"\n${typed}`), 'echo @@end', ''].join('\n')
  const ran = await run('bash', ['-c', `exec 2>&1\n${script}`], { cwd: place, env })
  await run('reeve', ['down'], { cwd: place, env })
  const printed = ran.printed.split(/^@@(?:\d+|end)\n/m).slice(1, -1)
  expect(printed).toHaveLength(steps.length)
  for (const [at, { typed, shown }] of steps.entries()) {
    const lines = (printed[at] ?? '').replace(/\n$/, '')
    expect(lines, typed).toMatch(new RegExp(`^${shown.map(asPattern).join('\n')}$`))
  }
  await expect.poll(() => leftBy(place)).toEqual([])
})

function isThere(tool: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, tool)))
}

function stepsOf(page: string): Step[] {
  const blocks = readFileSync(page, 'utf8').matchAll(/^```console run\n(?<text>.*?)^```$/gms)
  const lines = [...blocks].flatMap(({ groups }) => (groups?.['text'] ?? '').split('\n').slice(0, -1))
  const steps: { typed: string; shown: string[] }[] = []
  for (const line of lines) {
    const last = steps.at(-1)
    if (line.startsWith('$ ')) steps.push({ typed: line.slice(2), shown: [] })
    else if (line.startsWith('> ') && last !== undefined) last.typed += `\n${line.slice(2)}`
    else last?.shown.push(line)
  }
  return steps
}

function asPattern(line: string): string {
  if (line === '…') return '[^]*'
  const literal = line.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return changing.reduce((text, [shown, pattern]) => text.replaceAll(shown, pattern), literal)
}

/** A `reeve` for the PATH: these sources, with this Node. */
function launcherIn(place: string): string {
  const folder = join(place, 'bin')
  mkdirSync(folder)
  writeFileSync(
    join(folder, 'reeve'),
    `#!/bin/sh\nexec '${process.execPath}' '${resolve('bin/reeve.mjs')}' "$@"\n`,
    {
      mode: 0o755,
    },
  )
  return folder
}
