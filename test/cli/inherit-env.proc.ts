import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { filesWith } from '../files-with.ts'
import { until } from '../keeper/client.ts'
import { hasPrlimit, NEEDS_PRLIMIT, testIf } from '../reporting/test-if.ts'
import { TempReeve } from '../temp-reeve.ts'
import { CommandLine } from './command-line.ts'

const CANARY = 'cnry-4f1b77aa20c94d3e'
const PRINTS_LENGTH = `printf '%s\\n' "\${#MY_SETTING}"`

interface ShownRecord {
  readonly pid: string
  readonly status: string
  readonly outcome: { readonly result: { readonly restart?: { readonly pid: string } } } | null
}

test('a command in the foreground has the whole environment, which is stored nowhere', async () => {
  const line = new CommandLine()
  const { folder } = line.temp.home
  const env = { MY_SETTING: CANARY }
  const printed = await line.run(['run', '-c', PRINTS_LENGTH], { env })
  expect(printed).toMatchObject({ code: 0, stdout: `${CANARY.length}\n` })
  expect(filesWith(folder, CANARY)).toEqual([])
  const without = await line.run(['run', '--no-inherit-env', '-c', PRINTS_LENGTH], { env })
  expect(without.stdout).toBe('0\n')
})

test('a command in the background has the environment with --inherit-env, also after kill -9 of the daemon', async () => {
  const line = new CommandLine()
  const { folder } = line.temp.home
  const go = join(folder, 'go')
  const script = `while [ ! -e ${go} ]; do sleep 0.05; done; ${PRINTS_LENGTH}`
  const env = { MY_SETTING: CANARY }
  await line.run(['run', '-d', '--name', 'with', '--inherit-env', '-c', script], { env })
  await line.run(['run', '-d', '--name', 'without', '-c', script], { env })
  expect(filesWith(folder, CANARY)).toEqual([])
  await line.temp.killDaemon()
  expect(filesWith(folder, CANARY)).toEqual([])
  writeFileSync(go, '')
  await line.run(['wait', 'with', 'without'])
  expect((await line.run(['logs', 'with'])).stdout).toBe(`${CANARY.length}\n`)
  expect((await line.run(['logs', 'without'])).stdout).toBe('0\n')
  expect(filesWith(folder, CANARY)).toEqual([])
})

test('the setting inheritEnv makes --inherit-env the default', async () => {
  const line = new CommandLine()
  const env = { MY_SETTING: CANARY, REEVE_INHERIT_ENV: 'true' }
  await line.run(['run', '-d', '--name', 'one', '-c', PRINTS_LENGTH], { env })
  await line.run(['wait', 'one'])
  expect((await line.run(['logs', 'one'])).stdout).toBe(`${CANARY.length}\n`)
})

test('a restart policy keeps the environment in a private file until the last end', async () => {
  const line = new CommandLine()
  const { folder } = line.temp.home
  const started = join(folder, 'started')
  mkdirSync(started)
  const script = `touch ${started}/$$; ${PRINTS_LENGTH}; while [ ! -e ${folder}/end-$$ ]; do sleep 0.05; done; exit 3`
  const asked = ['--restart', 'failure', '--restart-limit', '1', '--inherit-env']
  await line.run(['run', '-d', '--name', 'again', ...asked, '-c', script], { env: { MY_SETTING: CANARY } })
  const files = () => filesWith(folder, CANARY)
  const [path = ''] = files()
  expect(files()).toEqual([expect.stringMatching('^commands/inherited/')])
  expect(statSync(join(folder, path)).mode & 0o777).toBe(0o600)
  await line.temp.killDaemon()
  const first = await line.json<ShownRecord>('show', 'again')
  for (const osPid of readdirSync(started)) writeFileSync(join(folder, `end-${osPid}`), '')
  await until('the successor runs', () => readdirSync(started).length === 2)
  for (const osPid of readdirSync(started)) writeFileSync(join(folder, `end-${osPid}`), '')
  await line.run(['wait', first.pid])
  const { outcome } = await line.json<ShownRecord>('show', first.pid)
  const second = outcome?.result.restart?.pid ?? ''
  await line.run(['wait', second])
  expect((await line.run(['logs', second])).stdout).toBe(`${CANARY.length}\n`)
  await until('the file is gone', () => files().length === 0)
})

test('a damaged file of an environment is removed, and keeps no daemon from starting', async () => {
  const line = new CommandLine()
  const kept = join(line.temp.home.commands, 'inherited')
  const asked = ['run', '-d', '--name', 'again', '--restart', 'failure', '--inherit-env']
  await line.run([...asked, '-c', 'sleep 300'], { env: { MY_SETTING: CANARY } })
  await line.temp.killDaemon()
  const [name = ''] = readdirSync(kept)
  writeFileSync(join(kept, name), `{"env":{"MY_SETTING":"${CANARY}`)
  expect((await line.json<ShownRecord>('show', 'again')).status).toBe('running')
  expect(readdirSync(kept)).toEqual([])
  expect(filesWith(line.temp.home.folder, CANARY)).toEqual([])
})

test('a restart takes the environment of the shell that asks for it', async () => {
  const line = new CommandLine()
  const script = `printf '%s\\n' "$MY_SETTING"; sleep 300`
  await line.run(['run', '-d', '--name', 'web', '--inherit-env', '-c', script], {
    env: { MY_SETTING: 'one' },
  })
  await line.run(['restart', 'web'], { env: { MY_SETTING: 'two' } })
  await until('it has printed', async () => (await line.run(['logs', 'web'])).stdout === 'two\n')
})

test('--env-file gives variables in the background that are stored nowhere, and a missing file is an error', async () => {
  const line = new CommandLine()
  const { folder } = line.temp.home
  const elsewhere = join(folder, 'project')
  mkdirSync(elsewhere)
  writeFileSync(join(elsewhere, '.env'), `# a comment\nMY_SETTING="${CANARY}"\nOTHER=2\n`)
  const asked = ['run', '-d', '--name', 'filed', '--env-file', '.env', '-e', 'OTHER=3']
  const script = `${PRINTS_LENGTH}; echo $OTHER`
  await line.run([...asked, '-c', script], { cwd: elsewhere })
  await line.run(['wait', 'filed'])
  expect((await line.run(['logs', 'filed'])).stdout).toBe(`${CANARY.length}\n3\n`)
  expect(filesWith(folder, CANARY)).toEqual(['project/.env'])
  const missing = await line.run(['run', '--env-file', 'no-such-file', 'true'], { cwd: elsewhere })
  expect(missing.code).not.toBe(0)
  expect(missing.stderr).toContain('no-such-file')
})

test('a restart keeps the variables of --env-file, and is refused before anything is ended when they are lost', async () => {
  const line = new CommandLine()
  const elsewhere = join(line.temp.home.folder, 'project')
  mkdirSync(elsewhere)
  writeFileSync(join(elsewhere, '.env'), 'OF_FILE=kept\n')
  const script = `printf '%s\\n' "$OF_FILE $MY_SETTING"; exec sleep 300`
  const asked = ['run', '-d', '--env-file', '.env']
  const one = { env: { MY_SETTING: 'one' }, cwd: elsewhere }
  await line.run([...asked, '--name', 'whole', '--inherit-env', '-c', script], one)
  await line.run([...asked, '--name', 'part', '-c', script], one)
  const again = { env: { MY_SETTING: 'two', OF_FILE: 'of the shell' } }
  for (const name of ['whole', 'part'])
    expect(await line.run(['restart', name], again)).toMatchObject({ code: 0 })
  const logged = async (name: string) => (await line.run(['logs', name])).stdout
  await until('it has printed', async () => (await logged('whole')) === 'kept two\n')
  await until('it has printed', async () => (await logged('part')) === 'kept \n')
  // A program that runs still has them; one that ended under an earlier daemon does not.
  await line.temp.killDaemon()
  expect(await line.run(['restart', 'whole'], again)).toMatchObject({ code: 0 })
  await until('it has printed', async () => (await logged('whole')) === 'kept two\n')
  for (const name of ['whole', 'part']) await line.run(['kill', name])
  await line.run(['down'])
  for (const name of ['whole', 'part']) {
    const { pid } = await line.json<ShownRecord>('show', name)
    const refused = await line.run(['restart', name], again)
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toContain('--env-file')
    expect((await line.json<ShownRecord>('show', name)).pid).toBe(pid)
  }
})

testIf(hasPrlimit, NEEDS_PRLIMIT)('umask and resource limits are those of the shell', async () => {
  const line = new CommandLine()
  const script = 'umask; ulimit -Sn; ulimit -Hn; ulimit -Sc; ulimit -Hc'
  // Started first with other limits, so that the keeper has others.
  await line.run(['run', 'true'])
  const called = `umask 037; ulimit -Sn 200; ulimit -Hn 300; ulimit -c 0; ${line.called} run -c '${script}'; true`
  const printed = execFileSync('bash', ['-c', called], { env: line.env, encoding: 'utf8' })
  expect(printed).toBe('0037\n200\n300\n0\n0\n')
})

test('a token cannot send an environment', async () => {
  const line = new CommandLine()
  await line.run(['run', 'true'])
  const token = readFileSync(line.temp.home.token, 'utf8').trim()
  const refused = await line.run(['run', '-d', '--inherit-env', 'true'], { env: { REEVE_TOKEN: token } })
  expect(refused.code).not.toBe(0)
  expect(refused.stderr).toContain('--inherit-env')
  // In the foreground the command runs without it.
  const env = { REEVE_TOKEN: token, MY_SETTING: CANARY }
  expect((await line.run(['run', '-c', PRINTS_LENGTH], { env })).stdout).toBe('0\n')
})

test('a secret of the environment that is passed by name is masked in the log of the command', async () => {
  const line = new CommandLine()
  const env = { ACME_API_KEY: 'correct-horse-battery-9' }
  const script = 'printf %s "$ACME_API_KEY" | sed s/-9/-9x/; echo; exec sleep 300'
  const asked = ['run', '-d', '--name', 'keyed', '--inherit-env', '--pass-env', 'ACME_API_KEY']
  await line.run([...asked, '-c', script], { env })
  const logged = async () => (await line.run(['logs', 'keyed'])).stdout
  await until('it has printed', async () => (await logged()).includes('x'))
  expect(await logged()).toBe(`${'*'.repeat(23)}x\n`)
  await line.temp.killDaemon()
  expect(await logged()).toBe(`${'*'.repeat(23)}x\n`)
  await line.run(['kill', 'keyed'])
  await line.run(['down'])
  expect(await logged()).toBe(`${'*'.repeat(23)}x\n`)
  const files = filesWith(line.temp.home.folder, 'correct-horse')
  expect(files.every((path) => path.includes('/output/') || path.includes('/passed/'))).toBe(true)
})

test('a secret that a command printed stays masked when it has ended and the daemon was started again; one that it did not print is in no file', async () => {
  const line = new CommandLine()
  const { folder, commands } = line.temp.home
  const env = { ACME_API_KEY: 'correct-horse-battery-9', OTHER_API_KEY: 'quiet-donkey-battery-4' }
  const prints = 'printf %s "$ACME_API_KEY" | sed s/-9/-9x/; echo'
  const logged = async (name: string) => (await line.run(['logs', name])).stdout
  const masked = `${'*'.repeat(23)}x\n`
  await line.run(['run', '--name', 'short', '-c', prints], { env })
  await line.run(['down'])
  expect(await logged('short')).toBe(masked)
  const long = ['run', '-d', '--name', 'long', '--inherit-env', '-c', `${prints}; exec sleep 300`]
  await line.run(long, { env })
  await until('it has printed', async () => (await logged('long')) === masked)
  await line.temp.killDaemon()
  expect(await logged('long')).toBe(masked)
  await line.run(['kill', 'long'])
  await line.run(['down'])
  for (const name of ['short', 'long']) expect(await logged(name)).toBe(masked)
  expect(filesWith(folder, 'quiet-donkey')).toEqual([])
  const passed = join(commands, 'passed')
  const kept = filesWith(passed, 'correct-horse')
  expect(kept).toHaveLength(2)
  for (const path of kept) expect(statSync(join(passed, path)).mode & 0o777).toBe(0o600)
})

test('a daemon takes an environment on its own socket alone', async () => {
  const { url, token } = await new TempReeve().up()
  const body = { kind: 'command', spec: { argv: ['true'], inheritEnv: 'whole' }, inherited: { env: {} } }
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  for (const [path, sent] of [
    ['processes', body],
    ['spawn-many', { processes: [body] }],
  ] as const) {
    const answer = await fetch(`${url}/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(sent) })
    expect(answer.status).toBe(403)
    expect(await answer.json()).toMatchObject({ code: 'forbidden' })
  }
})
