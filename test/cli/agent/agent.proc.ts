import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { quickFolder } from '../../quick-folder.ts'
import { CommandLine } from '../command-line.ts'

test('an agent repairs a file: its session, its cost and its end', async () => {
  const reeve = new CommandLine()
  const cwd = brokenProject()
  const ran = await reeve.run(
    ['agent', '--model', 'scripted/demo', '--name', 'fixer', 'make the tests pass'],
    {
      cwd,
    },
  )
  expect(ran).toMatchObject({ code: 0 })
  expect(ran.stdout.split('\n')).toEqual([
    '› make the tests pass',
    'The tests say what is expected. The code first.',
    'I read `sum.js` first.',
    '→ read_file sum.js',
    '  1  export function sum(a, b) { (+2 lines)',
    'Now the tests.',
    '→ run_command node --test',
    expect.stringMatching(/^ {2}Exit code 1\. \(\+\d+ lines\)$/),
    'It subtracts where the test expects a sum.',
    '`sum` subtracts. I correct that.',
    '→ edit_file sum.js {"edits":[{"oldText":"return a - b","newText":"return a + b"}]}',
    '  Edited sum.js: 1 replacement, line 2.',
    'And the tests again.',
    '→ run_command node --test',
    expect.stringMatching(/^ {2}Exit code 0\. \(\+\d+ lines\)$/),
    'Done: `sum` in `sum.js` adds now, and the tests pass.',
    expect.stringMatching(/^\(turn 1 finished, 5 model calls, \d+\.\dk tokens, cost \$0\)$/),
    '',
  ])
  expect(ran.stderr).toContain(
    'reeve: fixer is idle. Go on: reeve agent send fixer "…"; end it: reeve agent end fixer\n',
  )
  expect(readFileSync(join(cwd, 'sum.js'), 'utf8')).toContain('return a + b')
  // npx node scripts/draw-terminal.ts draws it again.
  expect(drawnLines()).toEqual(expect.arrayContaining(ran.stdout.trimEnd().split('\n').map(withoutNumbers)))

  const { stdout: listed } = await reeve.run(['agent', 'list'])
  expect(listed).toMatch(/^AGENT +PHASE +TURNS +TOKENS +COST +ACTIVE +MODEL +WORKSPACE\nfixer +idle +1 +\d/)
  expect((await reeve.run(['agent'])).stdout).toMatch(/^fixer +idle/m)
  const { stdout: shown } = await reeve.run(['agent', 'show', 'fixer'])
  expect(shown).toMatch(/^agent +fixer \(idle\)\nimage +base@[0-9a-f]+\nmodel +scripted\/demo\n/)
  expect(shown).toContain('finished: Done: `sum` in `sum.js` adds now, and the tests pass.')
  expect((await reeve.run(['agent', 'cost', 'fixer'])).stdout).toMatch(/^ +1 +5 +\d+\.\dk +\d+ +\$0$/m)

  const { stdout: jsonl } = await reeve.run(['agent', 'export', 'fixer'])
  const types = jsonl
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { type: string }).type)
  expect(types.filter((type) => type === 'tool_called')).toHaveLength(4)
  expect(types.at(-1)).toBe('turn_ended')
  const { stdout: markdown } = await reeve.run(['agent', 'export', 'fixer', '--format', 'markdown'])
  expect(markdown).toContain('## Turn 1\n\n**Input**\n\nmake the tests pass\n')
  const { stdout: messages } = await reeve.run(['agent', 'export', 'fixer', '--format', 'ui-messages'])
  expect(messages).toMatch(/^data: \{"type":"start"/)

  expect(await reeve.run(['agent', 'pause', 'fixer'])).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('is idle'),
  })
  expect((await reeve.run(['agent', 'end', 'fixer'])).code).toBe(0)
  await reeve.run(['wait', 'fixer'])
  expect((await reeve.run(['agent', 'list'])).stdout).not.toContain('fixer')
  expect((await reeve.run(['agent', 'list', '--all'])).stdout).toMatch(/^fixer +ended/m)
})

test('a file goes to the agent with the text, and one that cannot be read leaves no agent behind', async () => {
  const reeve = new CommandLine()
  const cwd = brokenProject()
  const script = {
    replies: [{ when: { input: 'return a - b' }, answer: { parts: [{ text: 'It subtracts.' }] } }],
    answers: [],
  }
  writeFileSync(join(cwd, 'script.json'), JSON.stringify(script))
  const start = ['agent', '--model', 'scripted/script.json']
  const ran = await reeve.run([...start, '--name', 'reader', '--file', 'sum.js', 'what is this?'], { cwd })
  expect(ran.stdout).toContain('› what is this?\n@sum.js\nIt subtracts.\n')
  const refused = await reeve.run([...start, '--name', 'other', '--file', 'absent.js', 'go'], { cwd })
  expect(refused.code).not.toBe(0)
  expect(refused.stderr).toContain('There is no file absent.js')
  expect((await reeve.run(['agent', 'list'])).stdout).not.toContain('other')
})

test('with --json each event is one line, and nothing else is printed', async () => {
  const reeve = new CommandLine()
  const cwd = brokenProject()
  const { code, stdout } = await reeve.run(['agent', '--model', 'scripted/demo', '--json', 'x'], { cwd })
  expect(code).toBe(0)
  const events = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; phase?: string; item?: { type: string } })
  expect(events[0]?.type).toBe('snapshot')
  expect(events.at(-1)).toMatchObject({ type: 'state', phase: 'idle' })
  expect(events.filter(({ item }) => item?.type === 'turn_ended')).toHaveLength(1)
})

test('an agent goes on when its daemon is killed while a command of it runs; the command runs once', async () => {
  const reeve = new CommandLine()
  const { cwd, words } = waitingAgent()
  const running = reeve.start(words, { cwd })
  await running.printed('→ run_command')
  await until(() => existsSync(join(cwd, 'ran')))
  await reeve.temp.killDaemon()
  writeFileSync(join(cwd, 'go'), '')
  const { code, stdout } = await running.ended
  expect(code).toBe(0)
  // A notice, too, tells of a command that ends before the next daemon waits for it again.
  expect(stdout).toMatch(
    / {2}Exit code 0\. \(\+1 line\)\n(notice: echo ran .*\n)?That is all\.\n\(turn 1 finished, 2 model calls/,
  )
  expect(readFileSync(join(cwd, 'ran'), 'utf8')).toBe('ran\n')
})

test('at a terminal a typed line waits, !text steers, Ctrl-C cancels the turn, and at the prompt it leaves', async () => {
  const reeve = new CommandLine()
  const { cwd, words } = waitingAgent()
  const at = reeve.terminal(words, { cols: 100, rows: 30 }, [], cwd)
  await until(() => existsSync(join(cwd, 'ran')))
  at.type('and then the docs\r')
  await at.until('(queued, number 1)')
  at.type('!leave the lock file\r')
  await at.until('(it reads this before its next step)')
  at.type('\u0003')
  await at.until('(cancelling the turn; Ctrl-C again leaves)')
  await at.until('(turn 1 cancelled')
  await at.until('› and then the docs')
  await at.until('Ctrl-C leaves; the agent stays.')
  await at.until(/› $/)
  const before = at.shown.length
  at.type('one more\r')
  await at.until(/one more[\s\S]*turn \d finished[\s\S]*› $/)
  // The terminal has shown it as it was typed.
  expect(at.shown.slice(before).match(/one more/g)).toHaveLength(1)
  at.type('\u0003')
  expect(await at.ended).toBe(0)
  expect(at.shown).toContain('The agent stays: reeve agent attach waits comes back')
})

test('at a terminal the prompt of a request is gone once Ctrl-C has cancelled its turn', async () => {
  const reeve = new CommandLine()
  const cwd = brokenProject()
  await reeve.run(['policy', 'add', 'ask', 'shell:node'])
  const words = ['agent', '--model', 'scripted/demo', 'make it pass']
  const at = reeve.terminal(words, { cols: 100, rows: 30 }, [], cwd)
  await at.until(/approve execute shell:node[^\n]* › $/)
  expect((await reeve.run(['agent', 'list'])).stdout).toMatch(/waits: approval/)
  at.type('\u0003')
  await at.until(/\(turn 1 cancelled[\s\S]*› $/)
  const [, after = ''] = at.shown.split('(cancelling the turn; Ctrl-C again leaves)')
  expect(after).toContain('Withdrawn while it waited for an approval; it never began.')
  expect(after).toContain('does not wait any more')
  expect(after).not.toContain('approve execute')
  at.type('\u0003')
  expect(await at.ended).toBe(0)
})

test('a session can be followed from another terminal, until its agent ends', async () => {
  const reeve = new CommandLine()
  const { cwd, words } = waitingAgent()
  expect((await reeve.run([...words, '-d'], { cwd })).code).toBe(0)
  const attached = reeve.start(['agent', 'attach', '--follow', 'waits'], { cwd })
  await attached.printed('→ run_command')
  writeFileSync(join(cwd, 'go'), '')
  await attached.printed('(turn 1 finished')
  expect((await reeve.run(['agent', 'send', 'waits', 'go on'])).stdout).toBe('started\n')
  await attached.printed('› go on\nThat is all.\n(turn 2 finished')
  expect((await reeve.run(['agent', 'end', 'waits'])).code).toBe(0)
  expect(await attached.ended).toMatchObject({ code: 0, stderr: expect.stringContaining('has ended.') })
})

test('a session says what it wants to do, and how to answer', async () => {
  const reeve = new CommandLine()
  const cwd = brokenProject()
  await reeve.run(['policy', 'add', 'ask', 'shell:node', '--because', 'tests are reviewed'])
  const running = reeve.start(['agent', '--model', 'scripted/demo', '--once', 'make it pass'], { cwd })
  const asked = '? it wants to execute shell:node --test (tests are reviewed)\n  answer in another terminal: '
  await running.printed(`${asked}reeve approve a_`)
  const [approval] = await reeve.json<{ id: string }[]>('approvals')
  await reeve.run(['policy', 'remove', 'r1'])
  expect((await reeve.run(['approve', approval?.id ?? ''])).code).toBe(0)
  const { code, stdout, stderr } = await running.ended
  expect({ code, stdout, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('has ended.') })
  expect(stdout).toContain('and the tests pass.\n(turn 1 finished')
})

test('at a terminal y, n with advice and a reply answer what waits; other lines answer nothing, and > queues', async () => {
  const reeve = new CommandLine()
  const cwd = temporaryFolder()
  const call = (tool: string, input: object) => ({ parts: [{ tool, input }] })
  const answers = [
    call('run_command', { command: 'echo one >> ran' }),
    call('run_command', { command: 'echo two >> ran' }),
    call('ask_human', { question: 'Which colour?', choices: ['red', 'green'] }),
    { parts: [{ text: 'That is all.' }] },
  ]
  writeFileSync(join(cwd, 'script.json'), JSON.stringify({ answers, atEnd: 'repeat' }))
  await reeve.run(['policy', 'add', 'ask', 'shell:echo', '--because', 'reviewed'])
  const at = reeve.terminal(
    ['agent', '--model', 'scripted/script.json', 'go'],
    { cols: 160, rows: 40 },
    [],
    cwd,
  )
  await at.until(/execute shell:echo one[\s\S]*approve execute [^?]*\? y, n \[advice\] › $/)
  at.type('and then the docs\r')
  await at.until(/\(Type y, or n with advice[\s\S]*approve execute [^?]*\? y, n \[advice\] › $/)
  at.type('y\r')
  await at.until(
    /approved by human:[\s\S]*execute shell:echo two[\s\S]*approve execute [^?]*\? y, n \[advice\] › $/,
  )
  at.type('> later\r')
  await at.until(/\(queued, number 1\)[\s\S]*approve execute [^?]*\? y, n \[advice\] › $/)
  at.type('n not today\r')
  await at.until(/denied by human:[\s\S]*Which colour\?\s+1 {2}red\s+2 {2}green\s+reply 1-2 › $/)
  at.type('2\r')
  await at.until(/\(turn 2 finished[\s\S]*› $/)
  at.type('\u0003')
  await at.ended
  expect(readFileSync(join(cwd, 'ran'), 'utf8')).toBe('one\n')
  expect(at.shown).toContain('not today')
  expect(at.shown).toMatch(/→ ask_human[^\n]*\n[\s\S]*green/)
  expect(at.shown).not.toContain('\n› and then the docs')
})

test('an agent at its limit is topped up, its model is changed, and the session names both', async () => {
  const reeve = new CommandLine()
  const cwd = temporaryFolder()
  writeFileSync(
    join(cwd, 'script.json'),
    JSON.stringify({ answers: [{ parts: [{ text: 'Hm.' }] }], atEnd: 'repeat' }),
  )
  const start = ['agent', '--model', 'scripted/script.json', '--name', 'fixer']
  const ran = await reeve.run([...start, '--allow', 'tokensIn=10', 'go'], { cwd })
  expect(ran).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('reeve agent allow fixer tokensIn=<amount> adds to its limit'),
  })
  expect(await reeve.run(['agent', 'allow', 'fixer', 'tokensIn'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('It takes a name and an amount, like cost=5'),
  })
  expect(await reeve.run(['agent', 'allow', 'fixer', 'tokensIn=1000000'])).toMatchObject({
    code: 0,
    stdout: 'allowed\n',
    stderr: expect.stringMatching(/left: tokensIn=\d+\n[\s\S]*reeve agent send fixer "go on"/),
  })
  expect(await reeve.run(['agent', 'model', 'fixer', 'scripted/demo', '--effort', 'high'])).toMatchObject({
    code: 0,
    stdout: 'scripted/demo, effort high\n',
  })
  const { configuration } = await reeve.json<{ configuration: unknown }>('agent', 'show', 'fixer')
  expect(configuration).toContainEqual({ name: 'effort', value: 'high', source: 'request' })
  expect(await reeve.run(['agent', 'model', 'fixer', 'nobody/model'])).toMatchObject({ code: 1 })
  await reeve.run(['agent', 'send', 'fixer', 'make the tests pass'])
  const attached = await reeve.run(['agent', 'attach', 'fixer', '--last', '100'], { input: 'null_device' })
  expect(attached.stdout).toContain('(the model is scripted/demo from here on, effort high)')
  expect(attached.stdout).toContain('(turn 2 finished')
})

test('a key of the shell that is not kept starts no agent', async () => {
  const reeve = new CommandLine()
  const key = 'ANTHROPIC_API_KEY'
  await reeve.run(['agent', 'list'], { env: { [key]: '' } })
  const at = reeve.shell()
  await at.until('$ ')
  at.type(
    `unset OPENAI_API_KEY GEMINI_API_KEY REEVE_MODEL; ${key}=test-key ${reeve.called} agent go; echo "code: $?"\r`,
  )
  await at.until(`Keep ${key} of this shell as a secret of Reeve`)
  at.type('n\r')
  await at.until(/code: 1/)
  expect(at.shown).toContain(`The daemon does not have ${key}, so no agent was started.`)
  expect(at.shown).toContain(`reeve secret set ${key}`)
  expect(await reeve.json('agent', 'list')).toEqual([])
})

test('a daemon says which keys of providers it has, and which model an agent gets', async () => {
  const reeve = new CommandLine()
  const keys = { ANTHROPIC_API_KEY: '', OPENAI_API_KEY: '', GEMINI_API_KEY: '', REEVE_MODEL: '' }
  await reeve.run(['secret', 'set', 'OPENAI_API_KEY'], { env: keys, input: 'test-key\n' })
  const { stdout } = await reeve.run(['call', 'status'], { env: keys })
  expect(JSON.parse(stdout)).toMatchObject({
    models: { default: 'openai/gpt-6.1-sol', keys: ['OPENAI_API_KEY'] },
  })
})

test('errors say what to do', async () => {
  const reeve = new CommandLine()
  const keys = { ANTHROPIC_API_KEY: '', OPENAI_API_KEY: '', GEMINI_API_KEY: '', REEVE_MODEL: '' }
  const run = (...words: string[]) => reeve.run(['agent', ...words], { env: keys, cwd: temporaryFolder() })
  expect(await run('make the tests pass')).toMatchObject({
    code: 2,
    stdout: '',
    stderr:
      'No model is named, and no key of a provider is there.\nStore a key (reeve secret set ANTHROPIC_API_KEY), name a model (--model provider/model), or try --model scripted/demo, which needs no key.\n',
  })
  expect(await run('lst', 'all')).toMatchObject({
    code: 2,
    stderr:
      'reeve agent does not know lst. Did you mean list?\nQuote the goal: reeve agent "make the tests pass"\n',
  })
  expect(await run('export', 'x', '--format', 'xml')).toMatchObject({
    code: 2,
    stderr: '--format was given xml.\nIt takes jsonl, markdown, ui-messages.\n',
  })
  expect(await run('steer', 'x')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('reeve agent steer needs an agent and one text.'),
  })
  expect(await run('show')).toMatchObject({ code: 2, stderr: expect.stringContaining('takes one agent') })
  expect(await run('--effort', 'huge', '--model', 'scripted/demo', 'x')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--effort was given huge.'),
  })
  expect(await run('show', 'x')).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('There is no process x.'),
  })
  expect(await run('--model', 'nobody/model', 'x')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('There is no provider nobody.'),
  })
  expect(await run('--model', 'anthropic/claude-opus-5-5', 'x')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('ANTHROPIC_API_KEY is not set. Run reeve secret set ANTHROPIC_API_KEY'),
  })
})

/** A folder with a defect that `scripted/demo` repairs. */
function brokenProject(): string {
  const cwd = temporaryFolder()
  writeFileSync(join(cwd, 'package.json'), '{ "type": "module" }\n')
  writeFileSync(join(cwd, 'sum.js'), 'export function sum(a, b) {\n  return a - b\n}\n')
  writeFileSync(
    join(cwd, 'sum.test.js'),
    [
      "import assert from 'node:assert'",
      "import { test } from 'node:test'",
      "import { sum } from './sum.js'",
      "test('adds', () => assert.equal(sum(1, 2), 3))",
    ].join('\n'),
  )
  return cwd
}

/** An agent whose command notes that it ran, and waits for the file `go`. */
function waitingAgent() {
  const cwd = temporaryFolder()
  const command = 'echo ran >> ran; until test -e go; do sleep 0.05; done; echo gone'
  const answers = [
    { parts: [{ text: 'I wait.' }, { tool: 'run_command', input: { command } }] },
    { parts: [{ text: 'That is all.' }] },
  ]
  writeFileSync(join(cwd, 'script.json'), JSON.stringify({ answers, atEnd: 'repeat' }))
  return { cwd, words: ['agent', '--model', 'scripted/script.json', '--name', 'waits', 'wait'] }
}

/** The lines of the picture in docs/agents.md. */
function drawnLines(): string[] {
  return [...readFileSync('docs/agent.svg', 'utf8').matchAll(/<text[^>]*>(.*?)<\/text>/g)].map(
    ([, drawn = '']) =>
      withoutNumbers(
        drawn
          .replaceAll(/<[^>]*>/g, '')
          .replaceAll('&lt;', '<')
          .replaceAll('&gt;', '>')
          .replaceAll('&quot;', '"')
          .replaceAll('&amp;', '&'),
      ),
  )
}

function withoutNumbers(line: string): string {
  return line.replaceAll(/[\d.]+(?=k tokens| lines)/g, 'N')
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(quickFolder, 'agent-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function until(isSo: () => boolean): Promise<void> {
  await expect.poll(isSo, { timeout: 20_000 }).toBe(true)
}
