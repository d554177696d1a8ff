import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const project = join(import.meta.dirname, '../..')

/** This project's settings, without the database server, which starts slowly. */
const WITHOUT_POSTGRES = `import config from ${JSON.stringify(join(project, 'vitest.config.ts'))}
  export default { ...config, test: { ...config.test, globalSetup: [] } }`

/** Passes when retried in the same file, because the module stays loaded. */
const FLAKY = `let tries = 0
  test('is flaky', () => { if (++tries === 1) throw new Error('first try\\nand more') })`
const FAILS = `test('fails', () => { throw new Error('no') })`
const SKIPS = `test('skips', ({ skip }) => skip('needs a moon'))
  test('skips too', ({ skip }) => skip('needs a moon'))
  test.skip('is skipped', () => {})`
const PASSES = `test('passes', () => {})`

test('a run ends with the reasons of skipped tests, the retried tests, and the counts', async () => {
  const folder = folderWith({ 'one.proc.ts': [FLAKY, PASSES], 'two.test.ts': [SKIPS] })
  const { code, lines } = await run('vitest', ['run', ...under(folder)])
  expect(code).toBe(0)
  expect(lines.slice(-4)).toEqual([
    'skipped: 2, needs a moon (2 in test/two.test.ts)',
    'skipped: 1, no reason given (test/two.test.ts)',
    'second try: test/one.proc.ts > is flaky: Error: first try',
    '2 passed, 0 failed, 3 skipped',
  ])
})

test('a test that starts no OS process is not retried', async () => {
  const folder = folderWith({ 'one.test.ts': [FLAKY] })
  const { code, lines } = await run('vitest', ['run', ...under(folder)])
  expect(code).toBe(1)
  expect(lines.at(-1)).toBe('0 passed, 1 failed, 0 skipped')
})

test('a file that fails to load counts as failed, and deselected tests are counted separately', async () => {
  const folder = folderWith({ 'one.test.ts': [PASSES, FAILS], 'two.test.ts': [`throw new Error('broken')`] })
  const { code, lines } = await run('vitest', ['run', ...under(folder), '-t', 'passes'])
  expect(code).toBe(1)
  expect(lines.slice(-2)).toEqual([
    'skipped: 1, not selected by name (test/one.test.ts)',
    '1 passed, 1 failed, 1 skipped',
  ])
})

test('repeated runs are added up, and a test that was retried twice fails them', async () => {
  const folder = folderWith({ 'one.proc.ts': [FLAKY, PASSES] })
  const { code, lines, logs } = await repeat('2', folder)
  expect(code).toBe(1)
  expect(lines.slice(-7)).toEqual([
    '2 runs beside 1 busy loops',
    'runs: 2 passed, 0 failed',
    'tests that failed: 0',
    'tests that needed a second try: 1',
    '  2 × test/one.proc.ts > is flaky',
    '      Error: first try',
    expect.stringMatching(/^what the runs printed: /),
  ])
  expect(readFileSync(join(logs, 'run-2.log'), 'utf8')).toContain('2 passed, 0 failed, 0 skipped')
})

test('a retry in one run is reported, and fails nothing', async () => {
  const folder = folderWith({ 'one.proc.ts': [FLAKY] })
  const { code, lines } = await repeat('1', folder)
  expect(lines).toContain('  1 × test/one.proc.ts > is flaky')
  expect(code).toBe(0)
})

test('repeated runs fail when one run does, and name the test', async () => {
  const folder = folderWith({ 'one.test.ts': [FAILS] })
  const { code, lines } = await repeat('1', folder)
  expect(code).toBe(1)
  expect(lines).toEqual(
    expect.arrayContaining([
      'runs: 0 passed, 1 failed',
      'tests that failed: 1',
      '  1 × test/one.test.ts > fails',
      '      Error: no',
    ]),
  )
})

async function repeat(runs: string, folder: string) {
  const script = join(project, 'scripts/repeat-tests.ts')
  const args = ['--runs', runs, '--busy', '1', '--', ...under(folder)]
  const { code, lines } = await run(process.execPath, [script, ...args])
  const [, logs = ''] = /^what the runs printed: (.+)$/.exec(lines.at(-1) ?? '') ?? []
  onTestFinished(() => rmSync(logs, { recursive: true, force: true }))
  return { code, lines, logs }
}

/** A folder of tests that Vitest can run with this project's settings. */
function folderWith(files: Record<string, readonly string[]>): string {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-summary-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  symlinkSync(join(project, 'node_modules'), join(folder, 'node_modules'))
  mkdirSync(join(folder, 'test'))
  writeFileSync(join(folder, 'vitest.config.ts'), WITHOUT_POSTGRES)
  for (const [name, bodies] of Object.entries(files))
    writeFileSync(join(folder, 'test', name), [`import { test } from 'vitest'`, ...bodies, ''].join('\n'))
  return folder
}

function under(folder: string): string[] {
  return ['--root', folder, '--config', join(folder, 'vitest.config.ts')]
}

function run(program: string, args: string[]) {
  const path = `${join(project, 'node_modules/.bin')}:${process.env['PATH']}`
  const options = { env: { ...outerEnv(), PATH: path, NO_COLOR: '1' }, timeout: 100_000 }
  return new Promise<{ code: unknown; lines: string[] }>((resolve) => {
    execFile(program, args, options, (error, stdout) =>
      resolve({ code: error === null ? 0 : error.code, lines: stdout.trimEnd().split('\n') }),
    )
  })
}

/** The environment without the variables of the Vitest that runs this test. */
function outerEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(VITEST|NODE_ENV$|TEST$|REEVE_TEST_RECORD$)/.test(name),
    ),
  )
}
