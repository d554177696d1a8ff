import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { CommandLine } from './command-line.ts'

test('at a terminal a command gets a terminal of the same size, which follows resizes', async () => {
  const reeve = new CommandLine()
  const at = reeve.terminal(
    ['run', '--', 'sh', '-c', 'echo "[$TERM]"; stty size; read x; stty size; exit 7'],
    {
      cols: 91,
      rows: 23,
    },
  )
  await at.until('23 91')
  expect(at.shown).toContain('[xterm]')
  at.resize(70, 20)
  // It is told as soon as we are; the command looks when it is asked to.
  await until(
    async () =>
      (await reeve.json<{ cols: number }>('screen', pidIn(await reeve.run(['ps', '-q'])))).cols === 70,
  )
  at.type('\r')
  expect(await at.ended).toBe(7)
  expect(at.shown).toContain('20 70')
})

test('Ctrl-C interrupts the command, and nothing else', async () => {
  const reeve = new CommandLine()
  const at = reeve.terminal([
    'run',
    '--',
    'sh',
    '-c',
    'trap "echo caught; exit 5" INT; echo ready; while :; do sleep 0.05; done',
  ])
  await at.until('ready')
  at.type('\u0003')
  expect(await at.ended).toBe(5)
  expect(at.shown).toContain('caught')
})

test('a command that Ctrl-C ends has the exit code that a shell would give', async () => {
  const reeve = new CommandLine()
  const at = reeve.terminal(['run', '--', 'sh', '-c', 'echo ready; exec sleep 60'])
  await at.until('ready')
  at.type('\u0003')
  expect(await at.ended).toBe(130)
})

test('Ctrl-Z pauses the command and gives the terminal back; when it is continued, so is the command', async () => {
  const reeve = new CommandLine()
  await reeve.run(['ps'])
  // A shell with jobs, as a person has.
  const shell = reeve.shell()
  shell.type(`${reeve.called} run -- sh -c 'echo ready; read x; echo "got $x"; exit 9'\r`)
  await shell.until(/^ready/m)
  shell.type('\u001a')
  await shell.until('Stopped')
  expect((await reeve.run(['ps'])).stdout).toContain('paused')
  shell.type('fg\r')
  await until(async () => (await reeve.run(['ps'])).stdout.includes('running'))
  shell.type('word\r')
  await shell.until(/got word\r\n.*\$ $/s)
  shell.type('echo "code $?"; exit\r')
  await shell.until('code 9')
})

test('output of a program reaches the terminal unchanged, byte for byte', async () => {
  const reeve = new CommandLine()
  const at = reeve.terminal(['run', '--', 'sh', '-c', 'stty raw; printf "[a\\nb\\r\\n]"'])
  expect(await at.ended).toBe(0)
  expect(at.shown).toContain('[a\nb\r\n]')
})

test('keys that a program reads by itself reach it: a full-screen editor works', async () => {
  const reeve = new CommandLine()
  const at = reeve.terminal([
    'run',
    '--',
    'sh',
    '-c',
    'stty raw -echo; printf "? "; dd bs=1 count=3 2>/dev/null | od -An -tx1',
  ])
  await at.until('? ')
  at.type('\u0003\u001a\u0004')
  expect(await at.ended).toBe(0)
  expect(at.shown).toContain('03 1a 04')
})

test('attach shows earlier output, passes keys on, and detaches without changing the command', async () => {
  const reeve = new CommandLine()
  const pid = pidIn(
    await reeve.run([
      'run',
      '-d',
      '--pty',
      '--name',
      'shell',
      '-e',
      'PS1=> ',
      '-e',
      'ENV=',
      '--',
      'sh',
      '-i',
    ]),
  )
  await reeve.run(['wait', 'shell', '--until', '> '])
  const at = reeve.terminal(['attach', 'shell'])
  await at.until('> ')
  at.type('echo $((6*7))\r')
  await at.until(/^42/m)
  at.type('\u001d')
  expect(await at.ended).toBe(0)
  expect(at.shown).toContain('Detached from shell')
  expect((await reeve.json<{ status: string }>('show', pid)).status).toBe('running')
  await reeve.run(['send', 'shell', 'exit 3'])
  expect((await reeve.run(['wait', pid])).code).toBe(3)
})

test('the terminal is restored however the command line ends', async () => {
  const reeve = new CommandLine()
  await reeve.run(['ps'])
  const shell = reeve.shell()
  shell.type(`${reeve.called} run -- true; stty -a | grep -o ' icanon'\r`)
  await shell.until(/^ icanon/m)
  shell.type('exit\r')
})

test('closing the window leaves the command running', async () => {
  const reeve = new CommandLine()
  const at = reeve.terminal(['run', '--name', 'stays', '--', 'sh', '-c', 'echo ready; exec sleep 60'])
  await at.until('ready')
  process.kill(at.osPid, 'SIGHUP')
  expect(await at.ended).toBe(129)
  expect((await reeve.json<{ status: string }>('show', 'stays')).status).toBe('running')
  expect((await reeve.run(['kill', 'stays'])).code).toBe(0)
})

function pidIn({ stdout }: { stdout: string }): string {
  return stdout.trim()
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo()));
}

test('a token that may only read attaches, and is refused when it types', async () => {
  const reeve = new CommandLine()
  await reeve.run(['run', '-d', '--pty', '--name', 'shell', '--', 'sh', '-c', 'echo ready; read x'])
  const { token } = await reeve.json<{ token: string }>('token', 'create', '--role', 'read')
  const typing = reeve.terminal(['attach', 'shell', '--token', token])
  expect(await typing.ended).toBe(4)
  expect(typing.shown).toContain('This needs a token with the role operate')
  const looking = reeve.terminal(['attach', 'shell', '--read-only', '--token', token])
  await looking.until('ready')
  looking.type('\u001d')
  expect(await looking.ended).toBe(0)
})

test('the detach key works also while the daemon does not answer', async () => {
  const reeve = new CommandLine()
  await reeve.run(['run', '-d', '--pty', '--name', 'shell', '--', 'sh', '-c', 'echo ready; read x'])
  const { daemon } = await reeve.json<{ daemon: { osPid: number } }>('status')
  const at = reeve.terminal(['attach', 'shell'])
  await at.until('ready')
  process.kill(daemon.osPid, 'SIGSTOP')
  onTestFinished(() => void process.kill(daemon.osPid, 'SIGCONT'))
  at.type('x')
  at.type('\u001d')
  expect(await at.ended).toBe(0)
})

test('redirected streams at a terminal stay apart', async () => {
  const reeve = new CommandLine()
  const shell = reeve.shell()
  const errors = join(reeve.temp.home.folder, 'errors')
  shell.type(`${reeve.called} run -- sh -c 'echo out; echo err >&2; exit 4' 2>${errors}; echo "code $?"\r`)
  await shell.until(/^out\r\n.*^code 4/ms)
  expect(readFileSync(errors, 'utf8')).toBe('err\n')
})

test('a background job runs on, and ends when the shell ends it', async () => {
  const reeve = new CommandLine()
  const shell = reeve.shell()
  shell.type(`${reeve.called} run --name job -- sh -c 'echo begun; exec sleep 300' &\r`)
  await shell.until(/^begun/m)
  shell.type('jobs\r')
  await shell.until(/^\[1\]\+\s+Running/m)
  shell.type('kill %1; wait %1; echo "code $?"\r')
  await shell.until('code 143')
  expect(await reeve.json('show', 'job')).toMatchObject({ outcome: { signal: 'SIGTERM' } })
})

test('behind the launcher of an older Node, one Ctrl-C is one signal', async () => {
  const reeve = new CommandLine()
  const at = reeve.terminal(['up'], { cols: 80, rows: 24 }, ['--import', OLDER_NODE])
  await at.until('Ctrl-C stops it')
  at.type('\u0003')
  expect(await at.ended).toBe(0)
  expect(at.shown).toContain('Stopped.')
  expect(reeve.temp.announced()).toBeNull()
})

/** Fakes `process.versions.node`, the only value that the launcher checks. */
const OLDER_NODE = `data:text/javascript,${encodeURIComponent(
  "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.1.0' } })",
)}`
