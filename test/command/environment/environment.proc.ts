import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Store } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { loginEnvironment } from '../../../src/command/environment/login.ts'
import { openSqlite } from '../../../src/store/sqlite/open.ts'
import { startTimeOf, until } from '../../keeper/client.ts'
import { codeOf, ended, printed, runs, start, TempReeve } from '../commands.ts'

/** Sets a variable of this daemon for the duration of one test. */
function daemonHas(name: string, value: string): void {
  const before = process.env[name]
  process.env[name] = value
  onTestFinished(() => {
    if (before === undefined) delete process.env[name]
    else process.env[name] = before
  })
}

function variablesIn(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split('\n').flatMap((line) => {
      const at = line.indexOf('=')
      return at > 0 ? [[line.slice(0, at), line.slice(at + 1)]] : []
    }),
  )
}

test('keys of the daemon are not passed on unless they are named, and the variables of a command win', async () => {
  daemonHas('FAKE_API_KEY', 'sk-fake')
  daemonHas('REEVE_TEST_PLAIN', 'plain')
  await using temp = new TempReeve()
  const reeve = await temp.embed({}, { redact: false })
  const seen = async (spec: object) => variablesIn((await runs(reeve, { run: 'env', ...spec })).text)
  const plain = await seen({})
  expect(plain).toMatchObject({ REEVE_TEST_PLAIN: 'plain', PYTHONUNBUFFERED: '1' })
  expect(plain).not.toHaveProperty('FAKE_API_KEY')
  expect(await seen({ passEnv: ['FAKE_API_KEY'] })).toMatchObject({ FAKE_API_KEY: 'sk-fake' })
  const own = { FAKE_API_KEY: 'mine', REEVE_TEST_PLAIN: 'other', PYTHONUNBUFFERED: '0', EMPTY: '' }
  expect(await seen({ env: own, passEnv: ['FAKE_API_KEY'] })).toMatchObject(own)
})

test('a terminal program gets no key of the daemon either, and the name of its terminal', async () => {
  daemonHas('FAKE_API_KEY', 'sk-fake')
  await using temp = new TempReeve()
  const reeve = await temp.embed({}, { redact: false })
  const { text } = await runs(reeve, { run: 'env', pty: true })
  expect(text).toContain('PATH=')
  expect(text).toContain('TERM=xterm-256color')
  expect(text).not.toContain('sk-fake')
})

test('an environment that was stored is used, and the spec wins over it', async () => {
  daemonHas('REEVE_TEST_SECRET', 'from the daemon')
  await using temp = new TempReeve()
  const reeve = await temp.embed({}, { redact: false })
  const { envRef } = await reeve.putEnvironment({
    variables: { ONE: '1', TWO: '2', KEY: { secret: 'REEVE_TEST_SECRET' } },
    policy: {},
    options: {},
  })
  const { text } = await runs(reeve, { run: 'echo $ONE $TWO $KEY', env: { TWO: 'two' } }, { envRef })
  expect(text).toBe('1 two from the daemon\n')
})

test('a login shell’s environment is that of the user, without the output of start-up files', async () => {
  await using temp = new TempReeve()
  const homeOfUser = join(temp.folder, 'user')
  mkdirSync(homeOfUser)
  const profile = [
    'echo "Welcome back"',
    'export PATH="/opt/known-to-the-user:$PATH"',
    'export FROM_PROFILE="a b"',
    'export PROFILE_API_KEY=sk-profile',
  ]
  writeFileSync(join(homeOfUser, '.profile'), profile.join('\n'))
  daemonHas('HOME', homeOfUser)
  const reeve = await temp.embed({ environment: 'login', shell: '/bin/sh' })
  const { text } = await runs(reeve, 'echo "$PATH|$FROM_PROFILE|$PROFILE_API_KEY|"; command -v ls')
  expect(text).toMatch(/^\/opt\/known-to-the-user:[^|]+\|a b\|\|\n\/.*ls\n$/)
  expect(temp.troubles).toEqual([])
})

test('a command begins in the folder it was given, and in the daemon’s if it was given none', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  expect((await runs(reeve, 'pwd -P', { cwd: '/usr' })).text).toBe('/usr\n')
  expect((await runs(reeve, 'pwd -P')).text).toBe(`${process.cwd()}\n`)
})

test('a command’s folder is on record, and a restart from elsewhere begins in the same one', async () => {
  const here = process.cwd()
  onTestFinished(() => process.chdir(here))
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const spec = { run: 'pwd -P; exec sleep 1000' }
  const { pid } = await start(reeve, spec, { name: 'server', idempotencyKey: 'server' })
  process.chdir('/')
  expect((await reeve.show({ pid })).cwd).toBe(here)
  const { record } = await reeve.restart({ pid: 'server' })
  expect(record.cwd).toBe(here)
  await printed(reeve, record.pid, here)
  // Where the daemon is does not make another request of it.
  const again = { kind: 'command', spec, name: 'server', idempotencyKey: 'server' } as const
  expect(await reeve.spawn(again)).toMatchObject({ type: 'existing', record: { pid } })
  const child = await start(reeve, 'pwd -P', { parent: record.pid })
  expect(child.cwd).toBe(here)
})

test('a variable that is to be passed on and is not there is warned of by name', async () => {
  daemonHas('FAKE_API_KEY', 'sk-fake')
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const passing = (passEnv: string[]) => reeve.spawn({ kind: 'command', spec: { run: 'true', passEnv } })
  expect(await passing(['FAKE_API_KEY'])).not.toHaveProperty('warning')
  expect((await passing(['FAKE_API_KEY', 'FAKE_APY_KEY'])).warning).toEqual({
    code: 'unknown_variables',
    names: ['FAKE_APY_KEY'],
  })
})

test('a login shell has a session of its own, so that it takes over no terminal', async () => {
  await using temp = new TempReeve()
  const [seen, shell] = [join(temp.folder, 'seen'), join(temp.folder, 'shell')]
  const script = `#!/bin/sh\necho "$$ $(ps -o sid= -p $$)" > ${seen}\nexec /bin/sh "$@"\n`
  writeFileSync(shell, script, { mode: 0o700 })
  expect(await loginEnvironment(shell)).toHaveProperty('PATH')
  const [osPid, session] = readFileSync(seen, 'utf8').trim().split(/\s+/)
  expect(session).toBe(osPid)
})

test('a login shell that does not end is killed, with its descendants', async () => {
  await using temp = new TempReeve()
  const [seen, shell] = [join(temp.folder, 'seen'), join(temp.folder, 'shell')]
  const script = `#!/bin/sh\nsleep 1000 &\necho $! > ${seen}\nwait\n`
  writeFileSync(shell, script, { mode: 0o700 })
  await expect(loginEnvironment(shell, 500)).rejects.toThrow('did not print its environment')
  const osPid = Number(readFileSync(seen, 'utf8'))
  await until('what it started is gone', () => startTimeOf(osPid) === '')
})

/** The file with the values that were passed for a process. */
function passedFile(temp: TempReeve, pid: string): string {
  return join(temp.keeperHome.passed, passedFiles(temp).find((name) => name.startsWith(pid)) ?? pid)
}

function passedFiles(temp: TempReeve): string[] {
  return existsSync(temp.keeperHome.passed) ? readdirSync(temp.keeperHome.passed) : []
}

test('secrets that are passed with a request reach the command and its restarts, and are nowhere but in a file of their own', async () => {
  daemonHas('FAKE_API_KEY', 'of-the-daemon')
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const spec = { run: 'printf %s "$FAKE_API_KEY" | wc -c; echo "$FAKE_API_KEY"', passEnv: ['FAKE_API_KEY'] }
  const secrets = { FAKE_API_KEY: 'of-the-caller-itself' }
  const { record } = await reeve.spawn({ kind: 'command', spec, secrets, idempotencyKey: 'once' })
  await ended(reeve, record.pid)
  const shown = `${secrets.FAKE_API_KEY.length}\n${'*'.repeat(secrets.FAKE_API_KEY.length)}\n`
  expect((await reeve.poll({ pid: record.pid })).text).toBe(shown)
  const again = await reeve.restart({ pid: record.pid })
  await ended(reeve, again.record.pid)
  expect((await reeve.poll({ pid: again.record.pid })).text).toBe(shown)

  const { events } = await reeve.events({ pid: record.pid, reveal: true })
  expect(JSON.stringify([events, await reeve.show({ pid: record.pid, reveal: true })])).not.toContain(
    secrets.FAKE_API_KEY,
  )
  expect(statSync(passedFile(temp, record.pid)).mode & 0o777).toBe(0o600)
  // A repeated request is the same process, even with another value.
  const other = { FAKE_API_KEY: 'another-value-altogether' }
  expect(await reeve.spawn({ kind: 'command', spec, secrets: other, idempotencyKey: 'once' })).toMatchObject({
    type: 'existing',
    record: { pid: record.pid },
  })
  expect(readFileSync(passedFile(temp, record.pid), 'utf8')).toContain(secrets.FAKE_API_KEY)

  const unnamed = reeve.spawn({ kind: 'command', spec: { run: 'true' }, secrets })
  expect(await codeOf(unnamed)).toBe('invalid_input')
  await reeve.prune({ keep: 0 })
  expect(readdirSync(temp.keeperHome.passed)).toEqual([])
})

/** A store whose next write waits: `held` resolves when it is asked for, and `release` lets it go on. */
function holding(store: Store) {
  const held = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  let isNext = false
  const wrapped: Store = {
    durability: store.durability,
    blobs: store.blobs,
    ...(store.locks === undefined ? {} : { locks: store.locks }),
    ask: (question) => store.ask(question),
    async write(plan) {
      if (isNext) {
        isNext = false
        held.resolve()
        await released.promise
      }
      return store.write(plan)
    },
    onCommit: (listener) => store.onCommit(listener),
    close: () => store.close(),
  }
  return { store: wrapped, holdNext: () => (isNext = true), held: held.promise, release: released.resolve }
}

test('a refused spawn never changes the variables of another session’s command', async () => {
  await using temp = new TempReeve()
  await using store = await openSqlite(temp.store).then((opened) =>
    Object.assign(holding(opened), { [Symbol.asyncDispose]: () => opened.close() }),
  )
  const reeve = await temp.embed({}, { store: store.store })
  for (const session of ['victim', 'attacker']) await reeve.openSession({ session })
  const [victim, attacker] = [reeve.as('session:victim'), reeve.as('session:attacker')]
  const pid = 'p_0123456789ab'
  const spec = { run: 'echo "probe: [$PROBE] other: [$OTHER]"', passEnv: ['PROBE'] }

  store.holdNext()
  const refused = codeOf(
    attacker.spawn({
      kind: 'command',
      pid,
      owner: { session: 'victim' },
      spec: { ...spec, passEnv: ['PROBE', 'OTHER'] },
      secrets: { PROBE: 'of-the-attacker', OTHER: 'of-the-attacker' },
    }),
  )
  await store.held
  await victim.spawn({ kind: 'command', pid, spec })
  await ended(reeve, pid)
  store.release()
  expect(await refused).toBe('denied')
  expect((await victim.poll({ pid })).text).toBe('probe: [] other: []\n')
  expect(passedFiles(temp)).toEqual([])
  await reeve.close()
})

test('a process that names a process of another session as the one it restarts gets none of its secrets', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed({}, { redact: false })
  for (const session of ['victim', 'attacker']) await reeve.openSession({ session })
  const [victim, attacker] = [reeve.as('session:victim'), reeve.as('session:attacker')]
  const spec = { run: 'echo "probe: [$PROBE]"', passEnv: ['PROBE'] }
  const secrets = { PROBE: 'of-the-victim' }
  const { record } = await victim.spawn({ kind: 'command', spec, secrets })
  await ended(reeve, record.pid)
  const text = async (pid: string) => {
    await ended(reeve, pid)
    return (await reeve.poll({ pid })).text
  }
  const stolen = await attacker.spawn({ kind: 'command', spec, restartOf: record.pid })
  expect(await text(stolen.record.pid)).toBe('probe: []\n')
  // Nor does a restart of that one, by a caller that may read both.
  expect(await text((await reeve.restart({ pid: stolen.record.pid })).record.pid)).toBe('probe: []\n')
  expect(await text((await victim.restart({ pid: record.pid })).record.pid)).toBe('probe: [of-the-victim]\n')
})

test('a repeat of a request keeps no secrets of its own, and repeats at the same time start one command with them', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed({}, { redact: false })
  const spec = { run: 'echo "probe: [$PROBE]"', passEnv: ['PROBE'] }
  const without = { kind: 'command', spec, idempotencyKey: 'without' } as const
  await reeve.spawn(without)
  expect(await reeve.spawn({ ...without, secrets: { PROBE: 'late' } })).toMatchObject({ type: 'existing' })
  expect(passedFiles(temp)).toEqual([])

  const repeated = { kind: 'command', spec, idempotencyKey: 'repeated', secrets: { PROBE: 'given' } } as const
  const answers = await Promise.all(Array.from({ length: 8 }, () => reeve.spawn(repeated)))
  expect(answers.filter(({ type }) => type === 'registered')).toHaveLength(1)
  const [pid = ''] = new Set(answers.map(({ record }) => record.pid))
  await ended(reeve, pid)
  expect((await reeve.poll({ pid })).text).toBe('probe: [given]\n')
  expect(passedFiles(temp)).toHaveLength(1)
})

test('a daemon that starts removes passed secrets that belong to no process, and keeps the others', async () => {
  await using temp = new TempReeve()
  const first = await temp.embed({}, { redact: false })
  const spec = { run: 'echo "probe: [$PROBE]"', passEnv: ['PROBE'] }
  const { record } = await first.spawn({ kind: 'command', spec, secrets: { PROBE: 'given' } })
  await ended(first, record.pid)
  await first.close()
  const [kept = ''] = passedFiles(temp)
  // As a crash leaves them: before the registration, and before the file was complete.
  for (const name of [
    kept.replace(record.pid, 'p_0123456789ab'),
    'p_0123456789ab',
    `${record.pid}.0`,
    '.unfinished',
  ])
    writeFileSync(join(temp.keeperHome.passed, name), '{"PROBE":"left-behind"', { mode: 0o600 })
  const next = await temp.embed({}, { redact: false })
  expect(passedFiles(temp)).toEqual([kept])
  const { pid } = (await next.restart({ pid: record.pid })).record
  await ended(next, pid)
  expect((await next.poll({ pid })).text).toBe('probe: [given]\n')
})
