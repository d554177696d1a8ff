import { readFileSync } from 'node:fs'
import headless from '@xterm/headless'
import { connect } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { endForCertain } from '../../command/os-processes.ts'
import { startTimeOf } from '../../keeper/client.ts'
import { type AtTerminal, CommandLine } from '../command-line.ts'

const SIZE = { cols: 100, rows: 12 }

/** The visible lines of the terminal. */
async function seen(at: AtTerminal, { cols, rows } = SIZE): Promise<string[]> {
  const terminal = new headless.Terminal({ cols, rows, allowProposedApi: true })
  await new Promise<void>((resolve) => terminal.write(at.shown, resolve))
  const { buffer } = terminal
  const lines = Array.from(
    { length: rows },
    (_, at) => buffer.active.getLine(buffer.active.baseY + at)?.translateToString(true) ?? '',
  )
  terminal.dispose()
  return lines
}

/** Longer than anything takes, and shorter than a test may: then the screen says more than that it took too long. */
const MAX_MS = 45_000

async function untilSeen(at: AtTerminal, wanted: RegExp | string, size = SIZE): Promise<string> {
  const until = Date.now() + MAX_MS
  while (true) {
    const more = at.heard()
    const lines = await seen(at, size)
    const found = lines.find((line) =>
      typeof wanted === 'string' ? line.includes(wanted) : wanted.test(line),
    )
    if (found !== undefined) return found
    if (Date.now() > until) throw new Error(`${wanted} is not on the screen:\n${lines.join('\n')}`)
    await Promise.race([more, new Promise((resolve) => setTimeout(resolve, 1_000))])
  }
}

async function startedLine(): Promise<CommandLine> {
  const reeve = new CommandLine()
  await reeve.run(['run', '-d', '--name', 'web', '--', 'sh', '-c', 'while :; do echo tick; sleep 0.05; done'])
  await reeve.run(['run', '-d', '--name', 'shell', '--pty', '--', 'sh', '-c', 'echo ready; read x; read y'])
  return reeve
}

const up = '\u001b[A'
const down = '\u001b[B'

test('live processes are shown with their resource use as they start and end', async () => {
  const reeve = await startedLine()
  const at = reeve.terminal(['top'], SIZE)
  await untilSeen(at, /^> +[\d.]+% +[\d.]+ [KM]iB +[\d.]+ B\/s {2}running +\d+m?s {2}web {2}sh -c/)
  await untilSeen(at, /^reeve top · 2 running · CPU [\d.]+% · memory [\d.]+ MiB/)
  await reeve.run(['run', '-d', '--name', 'brief', '--', 'sh', '-c', 'exit 3'])
  await untilSeen(at, /failed 3 .* brief/)
  at.type('q')
  expect(await at.ended).toBe(0)
})

test('k kills the selected process after a yes, p pauses and resumes it', async () => {
  const reeve = await startedLine()
  const at = reeve.terminal(['top'], SIZE)
  await untilSeen(at, /^> .* web /)
  at.type('p')
  await untilSeen(at, /^> .* paused .* web /)
  at.type('p')
  await untilSeen(at, /^> .* running .* web /)
  at.type('k')
  await untilSeen(at, 'Kill web and everything it started?')
  at.type('n')
  await untilSeen(at, '? help')
  at.type(`${down}k`)
  await untilSeen(at, 'Kill shell and everything it started?')
  at.type('y')
  await untilSeen(at, 'shell was ended.')
  await untilSeen(at, /^> .* cancelled .* shell /)
  const { stdout } = await reeve.run(['ps'])
  expect(stdout).toContain('web')
  expect(stdout).not.toContain('shell')
  at.type('q')
  expect(await at.ended).toBe(0)
})

test('Enter attaches to the terminal of a command, and Ctrl-] comes back', async () => {
  const reeve = await startedLine()
  const at = reeve.terminal(['top'], SIZE)
  await untilSeen(at, /^> .* web /)
  at.type(down)
  await untilSeen(at, /^> .* shell /)
  at.type('\r')
  await untilSeen(at, 'Attached to shell; Ctrl-] comes back.')
  await untilSeen(at, /^ready/)
  at.type('one\r')
  await untilSeen(at, /^one/)
  at.type('\u001d')
  await untilSeen(at, 'Detached from shell, which goes on running.')
  await untilSeen(at, /^> .* running .* shell /)
  at.type(`${up}a`)
  await untilSeen(at, 'web has no terminal to attach to')
  at.type(`${down}\r`)
  await untilSeen(at, /^one/)
  at.type('two\r')
  await untilSeen(at, 'shell has ended.')
  await untilSeen(at, /^> .* completed .* shell /)
  at.type('q')
  expect(await at.ended).toBe(0)
})

test('quitting after an attach leaves a clean screen, with the shell’s lines above it', async () => {
  const reeve = await startedLine()
  const size = { cols: 200, rows: 24 }
  const at = reeve.shell()
  at.type(`echo be''fore; ${reeve.called} top\r`)
  await untilSeen(at, /^> .* web /, size)
  at.type(`${down}\r`)
  await untilSeen(at, /^ready/, size)
  expect((await seen(at, size)).join('\n')).not.toContain('before')
  at.type('\u001d')
  await untilSeen(at, 'Detached from shell, which goes on running.', size)
  at.type('q')
  await untilSeen(at, /^\$ $/, size)
  expect((await seen(at, size)).filter((line) => line.trim() !== '')).toEqual(['$ '])
  at.type('exit\r')
  await at.ended
})

test('l follows the output of a command', async () => {
  const reeve = await startedLine()
  const at = reeve.terminal(['top'], SIZE)
  await untilSeen(at, /^> .* web /)
  at.type('l')
  await untilSeen(at, 'The last output of web')
  await untilSeen(at, /^tick$/)
  at.type('l')
  await untilSeen(at, /^> .* web /)
  at.type('q')
  expect(await at.ended).toBe(0)
})

test('a filter hides other rows, and the display follows resizes', async () => {
  const reeve = await startedLine()
  const at = reeve.terminal(['top'], SIZE)
  await untilSeen(at, /shell {2}sh -c/)
  at.type('/tick')
  await untilSeen(at, '/tick_  Enter keeps it')
  at.type('\r')
  await untilSeen(at, 'only "tick"')
  expect((await seen(at)).join('\n')).not.toContain('read x')
  at.type('\u001b')
  await untilSeen(at, /shell {2}sh -c/)
  at.shown = ''
  const small = { cols: 70, rows: 6 }
  at.resize(small.cols, small.rows)
  await untilSeen(at, '? help', small)
  const lines = await seen(at, small)
  expect(lines[0]).toMatch(/^reeve top · 2 running/)
  expect(lines[5]).toMatch(/^\? help/)
  at.type('q')
  expect(await at.ended).toBe(0)
})

test('a killed daemon is replaced and reported; a stopped one is waited for', async () => {
  const reeve = await startedLine()
  const at = reeve.terminal(['top'], SIZE)
  // Usage appears only after the daemon has identified itself.
  await untilSeen(at, /^> +[\d.]+% .* web /)
  const first = reeve.temp.announced()!.osPid
  await endForCertain({ osPid: first, startTime: startTimeOf(first) })
  await untilSeen(at, /The daemon was replaced; the new one has the PID \d+\./)
  await untilSeen(at, /^> .* running .* web /)

  expect((await reeve.run(['down', '--keep'])).stdout).toMatch(/^Stopped the daemon/)
  await untilSeen(at, /The daemon (was stopped|has not answered)/)
  await reeve.run(['run', '-d', '--name', 'later', '--', 'sleep', '1000'])
  await untilSeen(at, /running .* later /)
  at.type('q')
  expect(await at.ended).toBe(0)
  // Said only when the screen was the shell's again.
  expect(at.shown.slice(at.shown.lastIndexOf('[?1049l'))).toMatch(/Started a daemon, PID \d+/)
})

test.each([
  ['q', 0],
  ['\u0003', 0],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('the terminal is the shell’s again after %j', async (end, code) => {
  const reeve = await startedLine()
  const shell = reeve.shell()
  shell.type(`stty -a > ${reeve.temp.home.folder}/before; ${reeve.called} top; echo "code $?"\r`)
  await shell.until('? help')
  if (end.startsWith('SIG')) process.kill(topUnder(shell.osPid), end as NodeJS.Signals)
  else shell.type(end)
  await shell.until(`code ${code}`)
  const left = shell.shown.lastIndexOf('\u001b[?1049l')
  expect(left).toBeGreaterThan(shell.shown.lastIndexOf('\u001b[?1049h'))
  expect(shell.shown.lastIndexOf('\u001b[?25h')).toBeGreaterThan(shell.shown.lastIndexOf('\u001b[?25l'))
  shell.type(`stty -a | diff - ${reeve.temp.home.folder}/before && echo "sa""me"\r`)
  await shell.until('same')
  shell.type('exit\r')
  await shell.ended
})

test('Ctrl-Z releases the terminal, and fg resumes', async () => {
  const reeve = await startedLine()
  const shell = reeve.shell()
  shell.type(`${reeve.called} top\r`)
  await shell.until('? help')
  shell.type('\u001a')
  await shell.until('Stopped')
  shell.shown = ''
  shell.type('fg\r')
  await shell.until('? help')
  shell.type('q')
  await shell.until(/\$ $/)
  shell.type('exit\r')
  await shell.ended
})

test('in a pipe it is a table, with --json a document, with --jsonl a line for each second', async () => {
  const reeve = await startedLine()
  const table = await reeve.run(['top', '--sort', 'name'])
  expect(table.code).toBe(0)
  expect(table.stdout).toMatch(
    /^ +CPU +MEMORY +OUTPUT\/S {2}STATUS +AGE {2}PROCESS\n.* shell {2}sh .*\n.* web {2}sh .*\n$/,
  )
  const document = await reeve.json<{ at: number; processes: Record<string, unknown>[] }>('top')
  expect(document.processes[0]).toMatchObject({
    name: 'web',
    kind: 'command',
    status: 'running',
    parent: null,
    depth: 0,
    cpuPercent: expect.any(Number),
    memoryBytes: expect.any(Number),
    outputPerSecond: expect.any(Number),
  })
  const lines = reeve.start(['top', '--jsonl'])
  await lines.printed('}\n{')
  lines.child.kill('SIGTERM')
  const { stdout } = await lines.ended
  expect(JSON.parse(stdout.split('\n')[1] ?? '')).toHaveProperty('processes[1].name', 'shell')
})

test('the ports that a command listens on are shown', async () => {
  const reeve = new CommandLine()
  const program =
    "require('http').createServer().listen(0, '127.0.0.1', function () { console.log('at ' + this.address().port) })"
  await reeve.run(['run', '-d', '--name', 'web', '--', process.execPath, '-e', program])
  await reeve.run(['wait', 'web', '--until', 'at '])
  const port = /at (\d+)/.exec((await reeve.run(['logs', 'web'])).stdout)?.[1]
  const at = reeve.terminal(['top'], SIZE)
  await untilSeen(at, new RegExp(`^> .* :${port} +web `))
  at.type('q')
  expect(await at.ended).toBe(0)
  const { processes } = await reeve.json<{ processes: unknown[] }>('top')
  expect(processes).toEqual([expect.objectContaining({ name: 'web', ports: [Number(port)] })])
})

test('an agent token sees only its session', async () => {
  const reeve = await startedLine()
  await reeve.run(['session', 'open', 's1'])
  await reeve.run(['run', '-d', '--name', 'mine', '--session', 's1', '--', 'sleep', '1000'])
  const { token } = await reeve.json<{ token: string }>(
    'token',
    'create',
    '--role',
    'agent',
    '--session',
    's1',
  )
  const at = reeve.terminal(['top', '--token', token], SIZE)
  await untilSeen(at, /^> .* mine /)
  expect((await seen(at)).join('\n')).not.toContain('web')
  at.type('q')
  expect(await at.ended).toBe(0)
})

/** The PID of `reeve top`: the first child of the shell. */
function topUnder(shell: number): number {
  const [child = ''] = readFileSync(`/proc/${shell}/task/${shell}/children`, 'utf8').trim().split(' ')
  return Number(child)
}

test('a line above the processes says what waits for you, until it is answered', async () => {
  const reeve = new CommandLine()
  await reeve.run(['policy', 'add', 'ask', 'shell:touch'])
  await reeve.run(['session', 'open', 's1'])
  const host = await connect({ home: reeve.temp.home.folder })
  onTestFinished(() => host.close())
  const agent = host.as('session:s1')
  const spec = { argv: ['touch', 'one'] }
  const { record } = await agent.spawn({ kind: 'command', spec, cwd: reeve.temp.folder })
  const id = record.gate?.approval ?? ''
  const at = reeve.terminal(['top'], SIZE)
  await untilSeen(at, `1 approval waits for you: reeve approve ${id}`)
  await untilSeen(at, /^> +waiting \(approval\)/)
  await host.deny({ id })
  await untilSeen(at, /^> +cancelled /)
  while ((await seen(at)).some((line) => line.includes('waits for you'))) await at.heard()
  at.type('q')
  expect(await at.ended).toBe(0)
})
