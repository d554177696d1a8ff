import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, onTestFinished, test } from 'vitest'
import { leftBy } from '../examples/left-by.ts'
import { quickFolder } from '../quick-folder.ts'

test('the demo shows who did what, proves its claims, and leaves nothing behind', async () => {
  const { printed, code, folder } = await finished(start('demo'))
  expect(code).toBe(0)
  const tree = [
    'release                 completed   rerunnable  worker, then here',
    '├─ checks               completed   rerunnable  worker, then here',
    '│  ├─ check 1 3 5 7     completed   rerunnable  worker, then here',
    '│  └─ check 2 4 6 8     completed   rerunnable  worker',
    '├─ letters              completed   rerunnable  worker, then here',
    '│  ├─ letter 1 3 5      abandoned   bound       worker',
    '│  └─ letter 2 4 6      completed   bound       worker',
    '└─ publish              completed   bound       here',
  ]
  const commands = [
    'count                   completed   bound       keeper, exit code 0',
    'build                   failed      bound       keeper, exit code 7',
    'shell                   failed      bound       keeper, exit code 3',
  ]
  const terminal = ['$ answer=41', '$ echo $((answer + 1))', '42', '$ exit 3']
  expect(printed).toContain(`  ${tree.join('\n  ')}\n`)
  expect(printed).toContain(`  ${commands.join('\n  ')}\n`)
  expect(printed).toContain(terminal.map((line) => `${' '.repeat(19)}│ ${line}\n`).join(''))
  expect(printed).toContain('Nothing was lost: 24 processes were acknowledged, 24 are there.')
  expect(printed).toContain('No bound process ran twice: 12 of them, 12 executions.')
  expect(printed).toContain('Of 12 rerunnable ones 7 began twice, and the log says so.')
  expect(printed.match(/^ {2}✓ /gm)).toHaveLength(13)
  expect(printed).not.toContain('✗')
  expect(printed).toMatch(/^All proofs hold\.$/m)
  expect(printed.split('\n').filter((line) => line.length > 80)).toEqual([])
  expect(printed).not.toContain('\u001b')
  expect(readdirSync(folder)).toEqual([])
  expect(leftBy(folder)).toEqual([])
})

test('the demo of an agent kills its daemon, proves that the agent went on, and leaves nothing behind', async () => {
  const { printed, code, folder } = await finished(start('demo', 'agent'))
  expect(printed).toMatch(
    /read_file[^✓]*kill -9 \d+: the daemon is gone[^✓]*another daemon runs[^✓]*edit_file[^✓]*and the tests pass\./,
  )
  expect(printed).toContain('Each command ran once: 2 calls, 2 runs counted by the tests.')
  expect(printed.match(/^ {2}✓ /gm)).toHaveLength(7)
  expect(printed).toMatch(/^All proofs hold\.$/m)
  expect(code).toBe(0)
  expect(printed.split('\n').filter((line) => line.length > 80)).toEqual([])
  expect(readdirSync(folder)).toEqual([])
  expect(leftBy(folder)).toEqual([])
})

test('a demo of an agent that is interrupted without a daemon ends all it started, and removes its files', async () => {
  const running = start('demo', 'agent')
  await printedUntil(running, /kill -9 \d+/)
  running.child.kill('SIGINT')
  const { signal, folder } = await finished(running)
  expect(signal).toBe('SIGINT')
  expect(readdirSync(folder)).toEqual([])
  expect(leftBy(folder)).toEqual([])
})

test.each([
  ['while its worker runs', /runs release: .* PID \d+/],
  ['while no kernel has the commands', /kill -9 \d+/],
])('a demo that is interrupted %s ends all it started, and removes its files', async (_when, shown) => {
  const running = start('demo')
  await printedUntil(running, shown)
  running.child.kill('SIGINT')
  const { signal, folder } = await finished(running)
  expect(signal).toBe('SIGINT')
  expect(readdirSync(folder)).toEqual([])
  expect(leftBy(folder)).toEqual([])
})

test('an unknown subcommand is reported in one line, with the remedy in another', async () => {
  const { code, printed, complained } = await finished(start('dmeo'))
  expect({ code, printed, complained }).toEqual({
    code: 2,
    printed: '',
    complained: 'Unknown subcommand: dmeo. Did you mean demo?\nRun reeve --help to list the subcommands.\n',
  })
})

test('help and version print the same as their flags', async () => {
  const [help, flag] = [await finished(start('help')), await finished(start('--help'))]
  expect(help.printed).toBe(flag.printed)
  expect([help.code, help.printed]).toEqual([0, expect.stringContaining('demo')])
  expect((await finished(start('version'))).printed).toBe((await finished(start('--version'))).printed)
})

test('reeve without a subcommand, or with a surplus argument, does nothing', async () => {
  expect((await finished(start())).code).toBe(2)
  expect((await finished(start('demo', 'fast'))).complained).toContain('Unexpected: fast.')
})

test('reeve prints its version and its subcommands', async () => {
  expect(await finished(start('--version'))).toMatchObject({ code: 0, printed: '0.1.0\n' })
  const { code, printed } = await finished(start('--help'))
  expect(code).toBe(0)
  expect(printed).toContain('demo')
})

interface Running {
  readonly child: ChildProcess
  readonly folder: string
  readonly out: { printed: string; complained: string }
}

function start(...words: string[]): Running {
  const folder = mkdtempSync(join(quickFolder, 'demo-test-'))
  const env = { ...process.env, TMPDIR: folder }
  const child = spawn(process.execPath, [join(inject('builtReeve'), 'bin/reeve.mjs'), ...words], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const out = { printed: '', complained: '' }
  child.stdout.on('data', (chunk: Buffer) => {
    out.printed += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    out.complained += chunk.toString()
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  return { child, folder, out }
}

async function finished({ child, folder, out }: Running) {
  const [code, signal] = await once(child, 'close')
  return { code, signal, folder, ...out }
}

async function printedUntil({ child, out }: Running, pattern: RegExp): Promise<string> {
  const closed = once(child, 'close')
  while (!pattern.test(out.printed)) {
    const isOver = await Promise.race([
      once(child.stdout ?? child, 'data').then(() => false),
      closed.then(() => true),
    ])
    if (isOver) throw new Error(`It ended without printing ${pattern}:\n${out.printed}${out.complained}`)
  }
  return out.printed
}
