/**
 * Runs the programs of the documentation. The blocks of one page that begin with ```ts run are one program, in their
 * order; the output must equal the comments after `console.log`. A program that calls `connect` gets a daemon.
 */
import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { quickFolder } from '../quick-folder.ts'
import { leftBy } from './left-by.ts'
import { runNode } from './run-node.ts'

interface Program {
  readonly page: string
  readonly name: string
  readonly text: string
}

const programs: Program[] = ['README.md', ...globSync('docs/*.md').sort()]
  .map((page) => ({ page, name: `${basename(page, '.md').toLowerCase()}.ts`, text: programOf(page) }))
  .filter(({ text }) => text !== '')

const REEVE = join(inject('builtReeve'), 'bin/reeve.mjs')

let folder = ''

beforeAll(() => {
  folder = mkdtempSync(join(quickFolder, 'docs-test-'))
  mkdirSync(join(folder, 'node_modules'))
  // As in a user's project: one package among others.
  symlinkSync(resolve('.'), join(folder, 'node_modules', 'reeve'))
  for (const name of ['@types', '@durable-streams', 'zod'])
    symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name))
  for (const { name, text } of programs) writeFileSync(join(folder, name), text)
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('README.md and the task pages have programs', () => {
  const pages = ['README.md', 'docs/commands.md', 'docs/embed.md', 'docs/use-it-from-a-program.md']
  expect(programs.map(({ page }) => page)).toEqual(expect.arrayContaining(pages))
})

test('the programs of the documentation pass the type check', () => {
  const extend = { extends: resolve('tsconfig.json'), include: ['*.ts'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(extend))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  expect(typeErrors()).toBe('')
})

describe('the program of a page prints what the page shows', () => {
  test.each(programs)('$page', async ({ name, text }) => {
    const runFolder = mkdtempSync(join(folder, 'run-'))
    const env = { TMPDIR: runFolder, REEVE_HOME: join(runFolder, 'home'), REEVE_LISTEN: '127.0.0.1:0' }
    const talksToDaemon = /\bconnect\(/.test(text)
    if (talksToDaemon) expect(await runNode([REEVE, 'up', '-d'], { env })).toMatchObject({ code: 0 })
    const ran = await runNode([join(folder, name)], { cwd: runFolder, env })
    if (talksToDaemon) await runNode([REEVE, 'down'], { env })
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    expect(ran.stdout.split('\n').slice(0, -1)).toEqual(promised(text))
    // A keeper without programs takes a moment to exit.
    await expect.poll(() => leftBy(runFolder)).toEqual([])
  })
})

function programOf(page: string): string {
  const blocks = readFileSync(page, 'utf8').matchAll(/^```ts run\n(?<code>.*?)^```$/gms)
  return [...blocks].map(({ groups }) => groups?.['code'] ?? '').join('\n')
}

/** The comments after `console.log(…)`. */
function promised(text: string): string[] {
  return [...text.matchAll(/console\.log\(.*\) \/\/ (?<said>.*)$/gm)].map(
    ({ groups }) => groups?.['said'] ?? '',
  )
}

function typeErrors(): string {
  try {
    execFileSync(resolve('node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' })
    return ''
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}
