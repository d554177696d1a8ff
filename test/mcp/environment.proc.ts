import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { TokenFile } from '../../src/daemon/token-file.ts'
import { filesWith } from '../files-with.ts'
import { tempFolder } from '../temp-folder.ts'
import { TempReeve } from '../temp-reeve.ts'
import { call, ERAS } from './connected.ts'
import { killDaemon, reeveMcp } from './reeve-mcp.ts'

interface Begun {
  process: { pid: string }
}

const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin'

/** A folder with one program, like the bin folder of a virtual environment. */
function venv(program: string): string {
  const bin = join(tempFolder(), 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, program), `#!/bin/sh\necho "this is ${program}"\n`, { mode: 0o755 })
  return bin
}

async function printed(client: Client, run: string, more: Record<string, unknown> = {}): Promise<string> {
  return (await call(client, 'process_start', { run, waitMs: 20_000, ...more })).text
}

for (const era of ERAS) {
  test(`in the ${era} era a command has the PATH and the variables of its own client, not of the client that started the daemon`, async () => {
    const temp = new TempReeve()
    const bin = venv('only-here')
    const first = await reeveMcp(temp, {
      era,
      cwd: tempFolder(),
      name: 'first',
      env: { APP: 'stage-of-first', PATH: SYSTEM_PATH },
    })
    expect(await printed(first, 'echo "app: [$APP]"')).toContain('app: [stage-of-first]')
    const second = await reeveMcp(temp, {
      era,
      cwd: tempFolder(),
      name: 'second',
      env: { PATH: `${bin}:${SYSTEM_PATH}`, VIRTUAL_ENV: bin },
    })
    const seen = await printed(second, 'echo "app: [$APP] venv: [$VIRTUAL_ENV]"; only-here')
    expect(seen).toContain(`app: [] venv: [${bin}]`)
    expect(seen).toContain('this is only-here')
    expect(await printed(first, 'command -v only-here || echo "not here"')).toContain('not here')
  })
}

test('a daemon that a client starts has none of the variables of that client', async () => {
  const temp = new TempReeve()
  const client = await reeveMcp(temp, {
    era: 'modern',
    cwd: tempFolder(),
    env: { APP: 'stage', SOME_API_KEY: 'sk-of-the-client', NODE_OPTIONS: '--no-deprecation', LC_TIME: 'C' },
  })
  await printed(client, 'true')
  const environ = readFileSync(`/proc/${temp.announced()?.osPid}/environ`, 'utf8').split('\0')
  expect(environ).toContain('LC_TIME=C')
  expect(environ).toContain(`REEVE_HOME=${temp.home.folder}`)
  expect(environ.filter((line) => /^(APP|SOME_API_KEY|NODE_OPTIONS|npm_\w*|VITEST\w*)=/.test(line))).toEqual(
    [],
  )
})

test('a client that comes back with other variables starts its commands with those', async () => {
  const temp = new TempReeve()
  const cwd = tempFolder()
  const before = await reeveMcp(temp, { era: 'modern', cwd, env: { STAGE: 'one' } })
  const keyed = { idempotencyKey: 'same', name: 'kept', waitMs: 0 }
  const started = await call<Begun>(before, 'process_start', { run: 'sleep 60', ...keyed })
  expect(await printed(before, 'echo "stage: $STAGE"')).toContain('stage: one')
  await before.close()
  const after = await reeveMcp(temp, { era: 'modern', cwd, env: { STAGE: 'two' } })
  expect(await printed(after, 'echo "stage: $STAGE"')).toContain('stage: two')
  // The environment does not count for the identity of a request.
  const again = await call<Begun>(after, 'process_start', { run: 'sleep 60', ...keyed })
  expect(again.text).toContain(started.structured.process.pid)
})

test('a client’s secrets reach a command only by name, are masked in its output, and are in no record', async () => {
  const temp = new TempReeve()
  const secret = 'correct-horse-battery'
  const client = await reeveMcp(temp, {
    era: 'legacy',
    cwd: tempFolder(),
    env: { ACME_API_KEY: secret, STORE_AT: 'postgres://app:hunter2hunter2@db/app', PLAIN: 'plain' },
  })
  const look = 'echo "key: [$ACME_API_KEY] store: [$STORE_AT] plain: [$PLAIN]"'
  expect(await printed(client, look)).toContain('key: [] store: [] plain: [plain]')

  const run = 'echo "it has $(printf %s "$ACME_API_KEY" | wc -c) characters"; echo "says $ACME_API_KEY"'
  const started = await call<Begun>(client, 'process_start', {
    run,
    passEnv: ['ACME_API_KEY'],
    waitMs: 20_000,
  })
  const { pid } = started.structured.process
  expect(started.text).toContain(`it has ${secret.length} characters`)
  expect(started.text).toContain(`says ${'*'.repeat(secret.length)}`)
  const { contents } = await client.readResource({ uri: `reeve://processes/${pid}` })
  expect(JSON.stringify(contents)).not.toContain(secret)
  expect(JSON.stringify(contents)).not.toContain('"PLAIN"')
  expect(filesWith(temp.home.folder, secret)).toEqual([
    expect.stringMatching(`^commands/output/${pid}/`),
    expect.stringMatching(`^commands/passed/${pid}\\.[0-9a-f]+$`),
  ])

  // The next daemon does not know the value: it neither shows it nor runs the command without it.
  await killDaemon(temp)
  expect((await call(client, 'process_log', { pid })).text).toContain(`says ${'*'.repeat(secret.length)}`)
  const again = await call(client, 'process_restart', { pid, waitMs: 20_000 })
  expect(again.text).toContain(`it has ${secret.length} characters`)
})

test('an agent with a session token passes its variables on, too', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up()
  await daemon.reeve.openSession({ session: 's1' })
  const { token } = new TokenFile(temp.home).create({ role: 'agent', session: 's1' })
  const client = await reeveMcp(temp, {
    era: 'modern',
    cwd: tempFolder(),
    env: { REEVE_TOKEN: token, STAGE: 'bound' },
  })
  expect(await printed(client, 'echo "stage: $STAGE"')).toContain('stage: bound')
})

test('a remote daemon gets neither the variables nor the secrets of the client', async () => {
  const temp = new TempReeve()
  // Every host name but those of loopback counts as another machine.
  const { url, token } = await temp.up({ flags: { hosts: '0.0.0.0' } })
  const { port } = new URL(url ?? '')
  const env = { REEVE_TOKEN: token, STAGE: 'here', ACME_API_KEY: 'correct-horse-battery' }
  const run = 'echo "stage: [$STAGE] key: [$ACME_API_KEY]"'
  const near = await reeveMcp(temp, {
    era: 'modern',
    cwd: tempFolder(),
    env: { ...env, REEVE_URL: `http://localhost:${port}` },
  })
  expect(await printed(near, 'echo "stage: [$STAGE]"')).toContain('stage: [here]')
  const far = await reeveMcp(temp, {
    era: 'modern',
    cwd: tempFolder(),
    env: { ...env, REEVE_URL: `http://0.0.0.0:${port}` },
  })
  expect(await printed(far, run, { passEnv: ['ACME_API_KEY'] })).toContain('stage: [] key: []')
  expect(filesWith(temp.home.folder, env.ACME_API_KEY)).toEqual([])
})
