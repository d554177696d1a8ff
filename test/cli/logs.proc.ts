import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { until } from '../keeper/client.ts'
import { CommandLine } from './command-line.ts'

const LOCAL_TIME = '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d[+-]\\d\\d:\\d\\d'

/** A shell line that waits until a file is there. */
const awaits = (path: string) => `while [ ! -e ${path} ]; do sleep 0.05; done`

test('logs of several commands have the name of each before their lines, without colours in a pipe', async () => {
  const line = new CommandLine()
  await line.run(['run', '-d', '--name', 'web', '-c', 'echo one; printf two'])
  await line.run(['run', '-d', '--name', 'worker', '-c', 'echo three'])
  await line.run(['wait', 'web', 'worker'])
  const { stdout } = await line.run(['logs', 'web', 'worker'])
  expect(stdout.split('\n').sort()).toEqual(['', 'web    | one', 'web    | two', 'worker | three'])
  const lines = (await line.run(['logs', 'web', 'worker', '--jsonl'])).stdout.trim().split('\n')
  expect(lines.map((text) => JSON.parse(text) as object)).toContainEqual({
    pid: expect.stringMatching(/^p_/),
    name: 'web',
    offset: 4,
    text: 'two',
  })
})

test('on a terminal the names are coloured, and escape sequences of the commands are left out', async () => {
  const line = new CommandLine()
  const printing = `printf 'a\\033]0;title\\007b\\n'`
  await line.run(['run', '-d', '--name', 'web', '-c', printing])
  await line.run(['run', '-d', '--name', 'api', '-c', 'echo two'])
  await line.run(['wait', 'web', 'api'])
  const terminal = line.terminal(['logs', '--color', 'always', 'web', 'api'])
  expect(await terminal.ended).toBe(0)
  expect(terminal.shown).toContain('\u001b[36mweb |\u001b[39m ab')
  expect(terminal.shown).toContain('\u001b[33mapi |\u001b[39m two')
})

test('an unfinished last line of one of several logs is shown at once while its command runs', async () => {
  const line = new CommandLine()
  await line.run(['run', '-d', '--name', 'asks', '-c', "echo one; printf 'Continue? '; sleep 300"])
  await line.run(['run', '-d', '--name', 'busy', '-c', 'echo two; sleep 300'])
  await until('both have printed', async () => {
    const { stdout } = await line.run(['logs', '--all'])
    return stdout.includes('asks | Continue? ') && stdout.includes('busy | two')
  })
})

test('with -f lines of all live commands are shown as they come, each once and whole', async () => {
  const line = new CommandLine()
  const { folder } = line.temp.home
  const go = join(folder, 'go')
  const script = (text: string) => `echo begin; printf '${text} '; ${awaits(go)}; echo later; echo last`
  await line.run(['run', '-d', '--name', 'one', '-c', script('first')])
  await line.run(['run', '-d', '--name', 'two', '-c', script('second')])
  const following = line.start(['logs', '-af'])
  await Promise.all([following.printed('one | begin'), following.printed('two | begin')])
  writeFileSync(go, '')
  const { stdout, code } = await following.ended
  expect(code).toBe(0)
  const of = (name: string) => stdout.split('\n').filter((text) => text.startsWith(name))
  expect(of('one')).toEqual(['one | begin', 'one | first later', 'one | last'])
  expect(of('two')).toEqual(['two | begin', 'two | second later', 'two | last'])
})

test('with -f and --stream each line comes once, also where the other stream printed in the middle of one', async () => {
  const line = new CommandLine()
  const { folder } = line.temp.home
  const other = join(folder, 'other')
  const more = join(folder, 'more')
  const go = join(folder, 'go')
  const script = [
    "printf 'one '",
    `${awaits(other)}; echo aside >&2`,
    `${awaits(more)}; printf 'line\\nnext\\nopen '`,
    `${awaits(go)}; echo end`,
  ].join('; ')
  await line.run(['run', '-d', '--split', '--name', 'job', '-c', script])
  const hasPrinted = (text: string) =>
    until(`it has printed ${text}`, async () => (await line.run(['logs', 'job'])).stdout.endsWith(text))
  await hasPrinted('one ')
  writeFileSync(other, '')
  await hasPrinted('aside\n')
  writeFileSync(more, '')
  await hasPrinted('open ')
  const following = line.start(['logs', 'job', '-f', '-t', '--stream', 'stdout'])
  await following.printed('next')
  writeFileSync(go, '')
  const { stdout } = await following.ended
  expect(stdout.replaceAll(new RegExp(LOCAL_TIME, 'g'), '')).toBe(' one line\n next\n open end\n')
})

test('-n of more lines than a page, with --json, has every line once while the command prints on', async () => {
  const line = new CommandLine()
  const script = 'seq 1 25000; while :; do echo more; sleep 0.01; done'
  await line.run(['run', '-d', '--name', 'job', '-c', script])
  await until('it has printed them', async () =>
    (await line.run(['logs', 'job', '-n', '1'])).stdout.includes('more'),
  )
  const lines = await line.json<{ number: number; text: string }[]>('logs', 'job', '-n', '22000')
  expect(lines).toHaveLength(22_000)
  const first = lines[0]?.number ?? 0
  expect(lines.filter(({ number }, index) => number !== first + index)).toEqual([])
  expect(lines[0]?.text).toBe(String(first + 1))
})

test('-f goes on with the process that a restart policy starts', async () => {
  const line = new CommandLine()
  const restart = ['--restart', 'failure', '--restart-limit', '1']
  const script = 'read go; echo "$go"; exit 3'
  const first = (await line.run(['run', '-di', '--name', 'web', ...restart, '-c', script])).stdout.trim()
  const following = line.start(['logs', '-f', first])
  const withTimes = line.start(['logs', '-ft', first])
  await line.run(['send', first, 'one'])
  await Promise.all([following.printed('one'), withTimes.printed('one')])
  await line.run(['wait', first])
  const second = await until('the successor runs', async () => {
    const { pid, status } = await line.json<{ pid: string; status: string }>('show', 'web')
    return pid !== first && status === 'running' ? pid : null
  })
  await line.run(['send', second, 'two'])
  const said = `reeve: web has ended (failed 3), and was started again as ${second}.\n`
  expect(await following.ended).toMatchObject({ code: 0, stdout: 'one\ntwo\n', stderr: said })
  const timed = await withTimes.ended
  expect(timed.stdout).toMatch(new RegExp(`^${LOCAL_TIME} one\n${LOCAL_TIME} two\n$`))
})

test('--since and --until take times, and leave out earlier and later output', async () => {
  const line = new CommandLine()
  const { folder } = line.temp.home
  const go = join(folder, 'go')
  const script = `echo early; ${awaits(go)}; echo late >&2; sleep 300`
  await line.run(['run', '-d', '--split', '--name', 'job', '-c', script])
  const logged = async (...words: string[]) => (await line.run(['logs', 'job', ...words])).stdout
  await until('it has printed', async () => (await logged()) === 'early\n')
  writeFileSync(go, '')
  await until('it has printed more', async () => (await logged()) === 'early\nlate\n')
  // The other stream has a time of its own.
  const { times } = await line.json<{ times: { offset: number; at: number }[] }>(
    'call',
    'outputStreams',
    '{"pid":"job","times":true}',
  )
  expect(times.map(({ offset }) => offset)).toEqual([0, 6])
  const at = (ms: number) => `@${(times[1]?.at ?? 0) / 1_000 + ms / 1_000}`
  expect(await logged('--until', at(-1))).toBe('early\n')
  expect(await logged('--until', at(-1), '-t')).toMatch(new RegExp(`^${LOCAL_TIME} early\n$`))
  expect(await logged('--since', at(0))).toBe('late\n')
  expect(await logged('--since', 'yesterday', '--until', 'now')).toBe('early\nlate\n')
  expect(await logged('--until', 'yesterday')).toBe('')
  expect(await logged('--since', '@99999999999')).toBe('')
  expect(await logged('-n', '1', '--until', at(-1))).toBe('early\n')
  expect(await logged('-n', '5', '--until', at(-1))).toBe('early\n')
  expect(await logged('-n', '0', '--until', at(-1))).toBe('')
  expect(await logged('-n', '5', '--until', 'yesterday')).toBe('')
  expect(await logged('-n', '1', '--since', 'yesterday')).toBe('late\n')
  expect(await logged('-n', '5', '--since', at(0))).toBe('late\n')
  expect(await logged('-n', '1', '--since', 'yesterday', '--until', at(-1), '-t')).toMatch(
    new RegExp(`^${LOCAL_TIME} early\n$`),
  )
  expect(await line.run(['logs', 'job', '--since', 'soon'])).toMatchObject({ code: 2, stdout: '' })
  expect(await line.run(['logs', 'job', '-f', '--until', 'now'])).toMatchObject({ code: 2, stdout: '' })
})

test('--output writes a log into a file, byte for byte, and nothing to standard output', async () => {
  const line = new CommandLine()
  const file = join(line.temp.home.folder, 'export.log')
  await line.run(['run', '-d', '--name', 'job', '-c', `printf 'a\\033[1mb\\000c\\n'; echo two`])
  await line.run(['wait', 'job'])
  expect(await line.run(['logs', 'job', '--output', file])).toMatchObject({ code: 0, stdout: '', stderr: '' })
  expect(readFileSync(file, 'latin1')).toBe('a\u001b[1mb\0c\ntwo\n')
  await line.run(['logs', 'job', '-n', '1', '-o', file])
  expect(readFileSync(file, 'utf8')).toBe('two\n')
  const nowhere = join(line.temp.home.folder, 'no-folder', 'export.log')
  const refused = await line.run(['logs', 'job', '-o', nowhere])
  expect(refused.code).toBe(2)
  expect(refused.stderr).toContain('cannot be written')
  expect(existsSync(nowhere)).toBe(false)
})
