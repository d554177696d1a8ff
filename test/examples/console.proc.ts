/**
 * Runs the shell sessions of the documentation, and compares their output. The blocks of one page that begin with
 * ```console run are one session, with a temporary home: `$ ` starts a command, `> ` continues it, and all other lines
 * are its output. `…` matches any text, in a line or as a line; pids, times and the width of columns may differ.
 */
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, delimiter, join } from 'node:path'
import { expect, inject, onTestFinished, test } from 'vitest'
import { quickFolder } from '../quick-folder.ts'
import { endLeftBy, leftBy } from './left-by.ts'
import { run } from './run-node.ts'

interface Step {
  readonly typed: string
  readonly shown: readonly string[]
}

const pages = ['README.md', ...globSync('docs/*.md').sort()]
  .map((page) => ({ page, steps: stepsOf(page) }))
  .filter(({ steps }) => steps.length > 0)

/** Text that differs in each run: the page shows one example, and anything of its form matches. */
const changing: readonly (readonly [shown: RegExp, pattern: string])[] = [
  [/p_[0-9a-z]{12}/g, 'p_[0-9a-z]{12}'],
  [/\b\d+m?s ago|just now/g, '(\\d+m?s ago|just now)'],
  [/ {2}\d+m?s\b(?! ago)/g, '  \\d+m?s'],
  [/ {2,}/g, ' {2,}'],
  [/…/g, '.*'],
]

test('README.md and the task pages have shell sessions', () => {
  const wanted = ['run-a-command-in-the-background', 'see-what-it-prints', 'http'].map(
    (name) => `docs/${name}.md`,
  )
  expect(pages.map(({ page }) => page)).toEqual(expect.arrayContaining(['README.md', ...wanted]))
})

test.for(pages)('the session of $page prints what it shows', async ({ page, steps }, { skip }) => {
  const missing = ['curl', 'jq'].filter(
    (tool) => steps.some(({ typed }) => typed.includes(tool)) && !isInstalled(tool),
  )
  skip(missing.length > 0, `needs ${missing.join(' and ')}`)
  const folder = mkdtempSync(join(quickFolder, `${basename(page, '.md').toLowerCase()}-`))
  // A session that fails may leave commands, which keep their keeper alive.
  onTestFinished(() => {
    endLeftBy(folder)
    rmSync(folder, { recursive: true, force: true })
  })
  const env = {
    PATH: `${launcherIn(folder)}:${process.env['PATH']}`,
    TMPDIR: folder,
    REEVE_HOME: join(folder, 'home'),
    REEVE_LISTEN: '127.0.0.1:0',
    REEVE_ENVIRONMENT: 'inherit',
  }
  const script = [...steps.map(({ typed }, at) => `echo "@@${at}"\n${typed}`), 'echo @@end', ''].join('\n')
  const ran = await run('bash', ['-c', `exec 2>&1\n${script}`], { cwd: folder, env })
  await run('reeve', ['down'], { cwd: folder, env })
  const printed = ran.stdout.split(/^@@(?:\d+|end)\n/m).slice(1, -1)
  expect(printed).toHaveLength(steps.length)
  for (const [at, { typed, shown }] of steps.entries()) {
    const lines = (printed[at] ?? '').replace(/\n$/, '')
    expect(lines, typed).toMatch(new RegExp(`^${shown.map(asPattern).join('\n')}$`))
  }
  await expect.poll(() => leftBy(folder)).toEqual([])
})

function isInstalled(tool: string): boolean {
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

/** A folder for the PATH with a `reeve` that runs the built package under this Node. */
function launcherIn(parent: string): string {
  const folder = join(parent, 'bin')
  mkdirSync(folder)
  const script = `#!/bin/sh\nexec '${process.execPath}' '${join(inject('builtReeve'), 'bin/reeve.mjs')}' "$@"\n`
  writeFileSync(join(folder, 'reeve'), script, { mode: 0o755 })
  return folder
}
