import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Daemon } from '../../src/daemon/up.ts'
import { ask } from '../server/ask.ts'
import { CommandLine } from './command-line.ts'

test('a command in the foreground passes on its exit code, output and error output', async () => {
  const reeve = new CommandLine()
  const ran = await reeve.run(['run', '--', 'sh', '-c', 'echo out; echo err >&2; exit 7'])
  expect(ran).toMatchObject({ code: 7, stdout: 'out\n', stderr: 'err\n' })
})

test.each([
  ['a signal ended it', ['sh', '-c', 'kill -9 $$'], 137],
  ['its time was up', ['--timeout', '100ms', 'sleep', '60'], 124],
  ['it is not there', ['no-such-program'], 127],
  ['it cannot be run', ['/etc/passwd'], 126],
  ['Reeve refuses it', ['--session', 'nobody', 'true'], 125],
  ['no command is given', [], 125],
])('where %s, the exit code says so', async (_when, words, code) => {
  expect((await new CommandLine().run(['run', ...words])).code).toBe(code)
})

test('bytes go into a command and out of it unchanged', async () => {
  const reeve = new CommandLine()
  const input = randomBytes(3_000_000)
  const ran = await reeve.run(['run', '--', 'cat'], { input })
  expect(ran.code).toBe(0)
  expect(hash(ran.bytes)).toBe(hash(input))
})

test('more output than is usually kept arrives whole, the two streams apart', async () => {
  const reeve = new CommandLine()
  const folder = mkdtempSync(join(tmpdir(), 'cli-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const bytes = randomBytes(30_000_000)
  writeFileSync(join(folder, 'large'), bytes)
  const ran = await reeve.run(['run', '-c', 'cat large; echo done >&2; echo end'], { cwd: folder })
  expect(ran).toMatchObject({ code: 0, stderr: 'done\n' })
  expect(hash(ran.bytes)).toBe(hash(Buffer.concat([bytes, Buffer.from('end\n')])))
})

test('with --no-inherit-env a command gets the PATH of the shell and the variables of -e, and no others of the shell', async () => {
  const reeve = new CommandLine()
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'cli-test-')))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  await reeve.run(['ps'])
  const env = { PATH: `${cwd}:${process.env['PATH']}`, ONE: '1', TWO: '2' }
  const line = 'pwd; echo "$PATH" | cut -d: -f1; echo "[$ONE] [$TWO] [$THREE]"'
  const ran = await reeve.run(['run', '--no-inherit-env', '-e', 'TWO', '-e', 'THREE=3', '-c', line], {
    cwd,
    env,
  })
  expect(ran.stdout).toBe(`${cwd}\n${cwd}\n[] [2] [3]\n`)
})

test('a signal for the command line is passed to the command, which decides', async () => {
  const reeve = new CommandLine()
  const line = 'trap "echo asked; exit 3" TERM; echo ready; while :; do sleep 0.05; done'
  const started = reeve.start(['run', '--', 'sh', '-c', line])
  await started.printed('ready')
  started.child.kill('SIGTERM')
  expect(await started.ended).toMatchObject({ code: 3, stdout: 'ready\nasked\n' })
})

test('a command whose reader is gone gets SIGPIPE, as without Reeve', async () => {
  const reeve = new CommandLine()
  const started = reeve.start(['run', '--', 'yes'])
  await started.printed('y\n')
  started.child.stdout?.destroy()
  expect((await started.ended).code).toBe(128 + 13)
})

test('endless input does not keep the command line alive when the command has ended', async () => {
  const ran = new CommandLine().start(['run', '--', 'sh', '-c', 'exit 4'], { input: 'open' })
  expect((await ran.ended).code).toBe(4)
})

test('a foreground command that prints nothing costs three requests', async () => {
  const reeve = new CommandLine()
  const daemon = await reeve.temp.up()
  // It ends when its input does, so that no request is cut short by its end.
  expect(await reeve.run(['run', '--', 'cat'])).toMatchObject({ code: 0, stdout: '', stderr: '' })
  expect(await answeredVerbs(daemon)).toEqual([
    ['spawn', '200', '1'],
    ['closeInput', '200', '1'],
    ['stream', '204', '1'],
  ])
})

test('a foreground command whose standard input is /dev/null gets /dev/null, and costs two requests', async () => {
  const reeve = new CommandLine()
  const daemon = await reeve.temp.up()
  const line = 'test "$(readlink /proc/self/fd/0)" = /dev/null'
  const ran = await reeve.run(['run', '-c', line], { input: 'null_device' })
  expect(ran).toMatchObject({ code: 0, stdout: '', stderr: '' })
  expect(await answeredVerbs(daemon)).toEqual([
    ['spawn', '200', '1'],
    ['stream', '204', '1'],
  ])
})

test('a foreground command and its reader survive kill -9 of the daemon', async () => {
  const reeve = new CommandLine()
  const line = 'echo first; read go; echo second; exit 6'
  const started = reeve.start(['run', '-c', line], { input: 'open' })
  await started.printed('first')
  await reeve.temp.killDaemon()
  started.child.stdin?.write('go\n')
  expect(await started.ended).toMatchObject({ code: 6, stdout: 'first\nsecond\n' })
})

test('a foreground command that ends with the daemon passes on its exit code', async () => {
  const reeve = new CommandLine()
  const line = 'trap "echo asked; exit 3" TERM; echo ready; while :; do sleep 0.05; done'
  const started = reeve.start(['run', '--', 'sh', '-c', line])
  await started.printed('ready')
  expect((await reeve.run(['down'])).code).toBe(0)
  expect(await started.ended).toMatchObject({ code: 3, stdout: 'ready\nasked\n' })
})

/** Verb, HTTP status and count of the requests that a daemon has answered. */
async function answeredVerbs(daemon: Daemon): Promise<(string | undefined)[][]> {
  const { text } = await ask(daemon, 'GET /metrics')
  const answers = [...text.matchAll(/^reeve_http_answers_total\{verb="(\w+)",status="(\d+)"\} (\d+)$/gm)]
  return answers.map(([, verb, status, count]) => [verb, status, count])
}

function hash(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
