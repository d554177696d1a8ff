import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { quickFolder } from '../../quick-folder.ts'
import { CommandLine } from '../command-line.ts'

const START = ['agent', '--model', 'scripted/script.json']

test('a goal whose check still fails ends with exit code 1, and says so; show says it, too', async () => {
  const reeve = new CommandLine()
  const cwd = talking()
  const words = ['--name', 'looper', '--until', 'echo 2 failed; exit 1', '--max-turns', '2']
  const ran = await reeve.run([...START, ...words, 'fix it'], { cwd })
  const missed = 'The check of the goal still fails, and no turn is left; it printed last: 2 failed'
  expect(ran).toMatchObject({ code: 1, stdout: expect.stringContaining(`! ${missed}\n`) })
  const { stdout } = await reeve.run(['agent', 'show', 'looper'])
  expect(stdout).toContain(`goal            ${missed}\n`)
  const held = await reeve.run([...START, '--until', 'true', 'fix it'], { cwd })
  expect(held).toMatchObject({ code: 0, stdout: expect.not.stringContaining('check') })
})

test.each([
  [
    ['--worktree', '--path', 'sum.js', '--model', 'scripted/demo', 'go'],
    '--path has no effect with reeve agent.\nLeave it out: it is an option of reeve agent spawn, reeve agent fork.',
  ],
  [['spawn', 'lead', '--mcp', 'none.json', 'go'], '--mcp has no effect with reeve agent spawn.'],
  [['spawn', 'lead', '--until', 'false', 'go'], '--until has no effect with reeve agent spawn.'],
  [['spawn', 'lead', '--allow', 'cost=abc', 'go'], '--allow was given cost=abc.'],
  [['spawn', 'lead', '--soft-limit', 'cost=banana', 'go'], '--soft-limit was given cost=banana.'],
  [['show', 'lead', '--follow'], '--follow has no effect with reeve agent show.'],
  [['--worktree'], '--worktree has no effect with reeve agent.'],
  [['--max-turns', '3', '--model', 'scripted/demo', 'go'], '--max-turns has no effect without --until.'],
])('an option without effect is refused: reeve agent %j', async (words, message) => {
  const reeve = new CommandLine()
  const refused = await reeve.run(['agent', ...words])
  expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) })
})

test('an agent below another one has the allowance and the tools that are named; unknown names are refused', async () => {
  const reeve = new CommandLine()
  const cwd = talking()
  expect((await reeve.run([...START, '-d', '--name', 'lead', 'go'], { cwd })).code).toBe(0)
  const spawn = ['agent', 'spawn', 'lead', '--name', 'child', 'a part']
  expect(await reeve.run([...spawn, '--allow', 'coast=1'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('coast'),
  })
  for (const words of [spawn, [...START, 'go']])
    expect(await reeve.run([...words, '--tool', 'read_fil'], { cwd })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        'There is no tool read_fil, and no connected program serves one. Did you mean read_file?',
      ),
    })
  const limits = ['--allow', 'modelCalls=1', '--soft-limit', 'tokensIn=1000000']
  expect((await reeve.run([...spawn, ...limits])).code).toBe(0)
  const child = await reeve.json<{ budget: object }>('agent', 'show', 'child')
  expect(child.budget).toMatchObject({ given: { modelCalls: 1 } })
})

test('attach in a pipe prints the session and ends while the agent is idle; show prints entries with --last', async () => {
  const reeve = new CommandLine()
  const cwd = talking()
  expect((await reeve.run([...START, '--name', 'talker', 'hello'], { cwd })).code).toBe(0)
  const attached = await reeve.run(['agent', 'attach', 'talker', '--last', '3'], { input: 'null_device' })
  expect(attached).toMatchObject({ code: 0, stdout: expect.stringContaining('I tried.\n(turn 1 finished') })
  const { stdout: shown } = await reeve.run(['agent', 'show', 'talker', '--last', '10'])
  expect(shown).toMatch(/^last turn +finished: I tried\.\n\n› hello\nI tried\.\n\(turn 1 finished/m)
})

test('rewind lists turns and branches, says what would happen, and puts files back', async () => {
  const reeve = new CommandLine()
  const write = { tool: 'write_file', input: { path: 'made.txt', content: 'made' } }
  const cwd = talking({ answers: [{ parts: [write] }, { parts: [{ text: 'Made it.' }] }], atEnd: 'repeat' })
  await reeve.run([...START, '--name', 'maker', 'make it'], { cwd })
  const { stdout: listed } = await reeve.run(['agent', 'rewind', 'maker'])
  expect(listed).toMatch(/^ +1 .+ finished +1 +1 +make it$/m)
  const to = ['agent', 'rewind', 'maker', '--to', '1', '--undo-files']
  const { stdout: dry } = await reeve.run([...to, '--dry-run'])
  expect(dry).toContain('would be rewound to its beginning')
  expect(dry).toMatch(/files: 0 put back, 1 removed, 0 left\n {2}removed .+made\.txt\n/)
  expect(existsSync(join(cwd, 'made.txt'))).toBe(true)
  const { stdout: done } = await reeve.run([...to, '--label', 'first'])
  expect(done).toContain('the input of turn 1: make it\nfiles: 0 put back, 1 removed, 0 left\n')
  expect(existsSync(join(cwd, 'made.txt'))).toBe(false)
  const { branches } = await reeve.json<{ branches: unknown }>('agent', 'rewind', 'maker', '--list')
  expect(branches).toMatchObject([{ last: 1, label: 'first' }])
  expect(await reeve.run(['agent', 'rewind', 'maker', '--branch', 'none'])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('has no branch "none"'),
  })
})

test('a summary without text changes nothing: compact says so, and ends with exit code 1', async () => {
  const reeve = new CommandLine()
  const cwd = talking({ replies: [{ when: { input: 'Summarise this session' }, answer: { parts: [] } }] })
  await reeve.run([...START, '--name', 'talker', 'hello'], { cwd })
  expect(await reeve.run(['agent', 'compact', 'talker'])).toMatchObject({
    code: 1,
    stdout: 'invalid output: The session was not shortened: the model answered with an empty summary.\n',
  })
  const { position } = await reeve.json<{ position: { segment: number } }>('agent', 'show', 'talker')
  expect(position.segment).toBe(1)
})

test('a cancelled turn says which input goes on; two agents of one name are noticed; a busy one says how to queue', async () => {
  const reeve = new CommandLine()
  const parts = [{ tool: 'run_command', input: { command: 'sleep 60' } }]
  const cwd = talking({ answers: [{ parts }], atEnd: 'repeat' })
  await reeve.run([...START, '-d', '--name', 'busy', 'wait'], { cwd })
  await reeve.run(['agent', 'queue', 'busy', 'and then'])
  expect(await reeve.run(['agent', 'send', 'busy', 'now'])).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('reeve agent queue busy "…" gives it the text after this turn'),
  })
  expect(await reeve.run(['agent', 'resume', 'busy'])).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('There is nothing to resume'),
  })
  expect(await reeve.run(['agent', 'cancel', 'busy'])).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('an input that waited begins turn 2 now; reeve agent cancel --drop busy'),
  })
  const second = await reeve.run([...START, '-d', '--name', 'busy', 'wait'], { cwd })
  expect(second.stderr).toContain('has the name busy, too, and lives on')
  expect(await reeve.run([...START, ' '], { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('The goal is empty.'),
  })
})

test('at a soft limit a script hears that the agent is paused, and an answer of a person lets it go on', async () => {
  const reeve = new CommandLine()
  const parts = [{ tool: 'list_files', input: { path: '.' } }]
  const cwd = talking({ answers: [{ parts }, { parts: [{ text: 'Done.' }] }], atEnd: 'fail' })
  const ran = await reeve.run([...START, '--name', 'soft', '--soft-limit', 'tokensIn=10', 'go'], { cwd })
  expect(ran).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('soft is paused. Go on: reeve agent resume soft;'),
  })
  const [approval] = await reeve.json<{ id: string; request: { text: string } }[]>('approvals')
  expect(approval?.request.text).toMatch(/^soft has used \d+ of 10 tokensIn \(soft limit\): go on\?$/)
  expect((await reeve.run(['status'])).stdout).toContain(approval?.id)
  const again = await reeve.run(['agent', 'attach', 'soft'], { input: 'null_device' })
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('soft is paused.') })
  expect((await reeve.run(['reply', approval?.id ?? '', 'yes'])).code).toBe(0)
  const attached = await reeve.run(['agent', 'attach', 'soft'], { input: 'null_device' })
  expect(attached).toMatchObject({ code: 0, stdout: expect.stringContaining('Done.\n(turn 1 finished') })
})

/** A folder with a script that says the same every time. */
function talking(script: object = {}): string {
  const cwd = mkdtempSync(join(quickFolder, 'agent-'))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  const answers = [{ parts: [{ text: 'I tried.' }] }]
  writeFileSync(join(cwd, 'script.json'), JSON.stringify({ answers, atEnd: 'repeat', ...script }))
  return cwd
}
