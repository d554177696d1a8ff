import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, embed } from 'reeve'
import { describe, expect, onTestFinished, test } from 'vitest'
import { TokenFile } from '../../src/daemon/token-file.ts'
import type { Daemon } from '../../src/daemon/up.ts'
import { CommandLine } from '../cli/command-line.ts'
import { printed, start } from '../command/commands.ts'
import { call, overHttp } from '../mcp/connected.ts'
import { ask } from '../server/ask.ts'
import { tempFolder } from '../temp-folder.ts'
import { TempReeve } from '../temp-reeve.ts'
import { invented, SECRETS as PRINTED, shows } from './corpus.ts'

// A terminal draws no NULs: what they part runs together.
const SECRETS = PRINTED.filter(({ text }) => !text.includes('\0'))
const TEXT = `${SECRETS.map(({ text }) => text).join('\nsome text in between\n')}\nthe last line\n`
const TOGETHER = { secrets: SECRETS.flatMap(({ secrets }) => secrets) }

/** A file with all secrets, outside of every home, and the command line that prints it. */
function printing(): string {
  const file = join(tempFolder(), 'text')
  writeFileSync(file, TEXT)
  return `cat ${file}`
}

function expectNone(what: string, answer: unknown, printed = TOGETHER): void {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer)
  const shown = printed.secrets.filter((secret) => shows(text, { secrets: [secret] }))
  expect([what, shown]).toEqual([what, []])
}

function textOrGone(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

async function ended(daemon: Daemon, line: string, more: object = {}): Promise<string> {
  const { record } = await daemon.reeve.spawn({ kind: 'command', spec: { run: line, ...more } })
  await daemon.reeve.wait({ pid: record.pid, timeoutMs: 30_000 })
  return record.pid
}

test('secrets that a command prints appear on no surface, and in no file but its log', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up()
  const line = printing()
  const plain = await ended(daemon, line)
  const tagged = await ended(daemon, line, { output: 'tagged' })
  const terminal = await ended(daemon, line, { pty: { cols: 37, rows: 50 } })
  for (const pid of [plain, tagged, terminal]) {
    const paths = [
      'log?limit=10000',
      'log?ansi=keep',
      'search?pattern=.&limit=1000&context=2',
      'output?limit=1000000',
      'output/stream',
      'output/stream?offset=0000000000000123',
      'events',
      'events/stream',
      'usage',
      'wait',
      '',
      ...(pid === terminal ? ['screen', 'screen?scrollback=1000'] : []),
      ...(pid === tagged ? ['log?stream=stdout&limit=10000'] : []),
    ]
    for (const path of paths) {
      const said = await ask(daemon, `GET /v1/processes/${pid}/${path}`.replace(/\/$/, ''))
      expect([path, said.status]).toEqual([path, 200])
      const bytes = path.startsWith('output?') ? Buffer.from(said.json.bytes.$bytes, 'base64').toString() : ''
      expectNone(path, said.text + bytes)
    }
    const sse = await ask(daemon, `GET /v1/processes/${pid}/output/stream?offset=-1&live=sse`)
    const data = [...sse.text.matchAll(/^event: data\ndata:(.*)$/gm)].map(([, text]) => text ?? '')
    expectNone('sse', data.map((text) => Buffer.from(text, 'base64').toString()).join(''))
    const poll = await ask(daemon, `POST /v1/processes/${pid}/poll`, {
      body: { cursor: 'o0', maxChars: 1_000_000 },
    })
    expect(poll.text).toContain('the last line')
    expectNone('poll', poll.text)
    for (const secret of TOGETHER.secrets.slice(0, 5)) {
      const waited = await daemon.reeve.wait({ pid, until: { text: secret } })
      expect(waited.type).toBe('ended')
    }
  }
  const client = await overHttp(daemon.reeve, { era: 'modern' })
  const begun = await call<{ process: { pid: string } }>(client, 'process_start', {
    run: line,
    waitMs: 5_000,
  })
  expectNone('process_start', [begun.text, begun.structured])
  const { pid } = begun.structured.process
  for (const [tool, given] of [
    ['process_poll', { pid }],
    ['process_log', { pid }],
    ['process_search', { pid, pattern: '.' }],
    ['process_list', { status: 'any' }],
    ['process_wait', { pid }],
    ['inbox', {}],
  ] as const) {
    const { text, structured, isError } = await call(client, tool, given)
    expect([tool, text, isError]).toEqual([tool, text, false])
    expectNone(tool, [text, structured])
  }
  for (const uri of [
    `reeve://processes/${pid}`,
    `reeve://processes/${pid}/log`,
    'reeve://processes',
    'reeve://inbox',
  ])
    expectNone(uri, await client.readResource({ uri }))
  await daemon.close()

  const files = readdirSync(temp.home.folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  for (const entry of files) {
    const path = join(entry.parentPath, entry.name)
    const isLog = /\/output\/p_[^/]+\/\d{15}$/.test(path)
    if (isLog) expect([path, (statSync(path).mode & 0o777).toString(8)]).toEqual([path, '600'])
    // The idle keeper exits and removes its files.
    else expectNone(path, textOrGone(path))
  }
  expect((statSync(join(temp.home.commands, 'output')).mode & 0o777).toString(8)).toBe('700')
})

describe('a command line', () => {
  const secret = invented('on a command line', 36)
  const hidden = { secrets: [secret, 'correct-horse', 'battery-staple'] }

  test('is shown without its secrets on every surface, and runs with them', async () => {
    const daemon = await new TempReeve().up()
    const { reeve } = daemon
    await reeve.openSession({ session: 's' })
    const line = `echo begun; test "$DB_PASSWORD" = correct-horse && read -r word && test "$word" = SITE_KEY=battery-staple && test ghp_${secret} = "ghp_$(printf %s ${secret.slice(0, 20)}'')${secret.slice(20)}"`
    const spec = {
      run: line,
      env: { DB_PASSWORD: 'correct-horse', lower_token: 'battery-staple' },
      stdin: { text: 'SITE_KEY=battery-staple\n' },
    }
    const owner = { session: 's' }
    const whole = { secrets: [`ghp_${secret}`, 'correct-horse', 'battery-staple'] }
    const spawned = await reeve.spawn({ kind: 'command', spec, owner, name: 'job' })
    const waited = await reeve.wait({ pid: spawned.record.pid })
    expect(waited).toMatchObject({ type: 'ended', record: { outcome: { exitCode: 0 } } })
    const again = await reeve.spawn({ kind: 'command', spec, owner })
    expect(again.warning).toBeUndefined()
    const restarted = await reeve.restart({ pid: spawned.record.pid })
    expect(await reeve.wait({ pid: restarted.record.pid })).toMatchObject({
      record: { outcome: { exitCode: 0 } },
    })
    const followed = []
    const { position } = await reeve.changes({ limit: 1_000 })
    for await (const event of reeve.follow({ after: 0 })) {
      followed.push(event)
      if (event.position >= position) break
    }
    const told = []
    for await (const notice of reeve.inbox({ scope: 'session:s' })) {
      told.push(notice)
      break
    }
    expect(told).toHaveLength(1)
    const answers = {
      spawned,
      told,
      waited,
      again,
      restarted,
      followed,
      list: await reeve.list({ filter: { status: 'any' } }),
      show: await reeve.show({ pid: spawned.record.pid }),
      events: await reeve.events({ pid: spawned.record.pid }),
      changes: await reeve.changes({ limit: 1_000 }),
      notices: await reeve.notices({ scope: 'session:s' }),
      http: (await ask(daemon, 'GET /v1/processes?filter={"status":"any"}')).text,
      stream: (await ask(daemon, 'GET /v1/changes/stream')).text,
      inbox: (await ask(daemon, 'GET /v1/inbox/stream?scope=session:s')).text,
    }
    for (const [what, answer] of Object.entries(answers)) {
      const text = JSON.stringify(answer)
      expect([what, whole.secrets.filter((one) => text.includes(one))]).toEqual([what, []])
    }
    expect(JSON.stringify(answers.show)).toContain('echo begun')
    const shown = await reeve.show({ pid: spawned.record.pid, reveal: true })
    expect(shown.spec).toEqual(spec)
  })

  test('is shown without its secrets to its parent of any kind', async () => {
    const daemon = await new TempReeve().up()
    const { reeve } = daemon
    await reeve.openSession({ session: 's' })
    const own = reeve.as('session:s')
    const { record: parent } = await own.spawn({ kind: 'external', spec: { description: 'an agent' } })
    const { record: child } = await reeve.spawn({
      kind: 'command',
      spec: { run: `: ghp_${secret} correct-horse`, env: { DB_PASSWORD: 'correct-horse' } },
      parent: parent.pid,
    })
    await reeve.wait({ pid: child.pid })
    const { position } = await reeve.changes({ limit: 1_000 })
    const followed = []
    for await (const event of own.follow({ after: 0 })) {
      followed.push(event)
      if (event.position >= position) break
    }
    const answers = {
      events: await reeve.events({ pid: parent.pid }),
      own: await own.events({ pid: parent.pid }),
      changes: await own.changes({ limit: 1_000 }),
      followed,
      stream: (await ask(daemon, `GET /v1/processes/${parent.pid}/events/stream`)).text,
      all: (await ask(daemon, 'GET /v1/changes/stream')).text,
    }
    expect(JSON.stringify(answers.own)).toContain('child_registered')
    for (const [what, answer] of Object.entries(answers)) expectNone(what, answer, hidden)
  })

  test.each([
    ['a token', `ghp_${secret}`, secret],
    ['a password', 'postgres://app:correcthorsebatterystaple@db/x', 'correcthorsebatterystaple'],
    ['a value that it was given', 'correcthorsebatterystaple', 'correcthorsebatterystaple'],
  ])('shows nothing of %s where its label is cut', async (_, text, within) => {
    await using temp = new TempReeve()
    const reeve = await temp.embed({}, { redact: { values: ['correcthorsebatterystaple'] } })
    const begins = 118 - text.indexOf(within)
    for (const shown of [8, 12, within.length - 1]) {
      const padding = 'y'.repeat(begins - shown - 2)
      const { record } = await reeve.spawn({ kind: 'command', spec: { run: `: ${padding} ${text}` } })
      expect(record.identity.label).toHaveLength(120)
      expectNone(`${shown}`, record, { secrets: [within] })
      await reeve.wait({ pid: record.pid })
      expectNone(`${shown}`, await reeve.events({ pid: record.pid }), { secrets: [within] })
    }
  })

  test('is in no error that names it', async () => {
    await using temp = new TempReeve()
    const reeve = await temp.embed()
    const folder = `/nowhere/ghp_${secret}`
    const { outcome } = await start(reeve, { argv: ['true'] }, { cwd: folder })
    expect(outcome).toMatchObject({ reason: 'failed_start' })
    expectNone('outcome', outcome, hidden)
    const refused = await reeve.show({ pid: `ghp_${secret}` }).catch((error: unknown) => error)
    expect(refused).toMatchObject({ name: 'RefusedError' })
    expectNone('refusal', [String(refused), (refused as Error).stack, refused], hidden)
  })
})

describe('what a command prints in other ways than as a variable', () => {
  const key = invented('printed in other ways', 36)
  const half = [key.slice(0, 18), key.slice(18)]
  const WAYS = {
    'a member of JSON': `{"user": "app", "api_key": "${key}"}`,
    'a setting of YAML': `database:\n  password: ${key}`,
    'a header': `> GET / HTTP/1.1\n> X-Api-Key: ${key}`,
    'a cookie': `< Set-Cookie: session=${key}; Path=/; HttpOnly`,
    'a token with a colour in its middle': `ghp_${half[0]}\u001b[31m${half[1]}\u001b[0m`,
    'an option of a traced command': `+ deploy --password '${key}' --verbose`,
  }

  test.each(Object.entries(WAYS))('%s is masked for an agent and in the output', async (_, text) => {
    const daemon = await new TempReeve().up()
    const file = join(tempFolder(), 'text')
    writeFileSync(file, `begin\n${text}\nend\n`)
    const client = await overHttp(daemon.reeve, { era: 'modern' })
    const run = { run: `cat ${file}`, waitMs: 30_000 }
    const begun = await call<{ process: { pid: string } }>(client, 'process_start', run)
    const { pid } = begun.structured.process
    await daemon.reeve.wait({ pid, timeoutMs: 30_000 })
    const answers = {
      process_start: begun,
      process_log: await call(client, 'process_log', { pid }),
      process_search: await call(client, 'process_search', { pid, pattern: '.' }),
    }
    for (const [what, answer] of Object.entries(answers))
      expectNone(what, answer, { secrets: [key, ...half] })
    const { bytes } = await daemon.reeve.output({ pid, offset: 0, limit: 100_000 })
    const output = Buffer.from(bytes).toString()
    expectNone('output', output, { secrets: [key, ...half] })
    expect(output).toHaveLength(`begin\n${text}\nend\n`.length)
    expect(output).toMatch(/^begin\n.*\nend\n$/s)
    const revealed = await daemon.reeve.output({ pid, offset: 0, limit: 100_000, reveal: true })
    expect(Buffer.from(revealed.bytes).toString()).toContain(text)
  })

  test('the rest of a secret that a terminal program wrote over is masked on its screen', async () => {
    const daemon = await new TempReeve().up()
    const file = join(tempFolder(), 'text')
    writeFileSync(file, `ghp_${key}\rdone`)
    const client = await overHttp(daemon.reeve, { era: 'modern' })
    const begun = await call<{ process: { pid: string } }>(client, 'process_start', {
      run: `cat ${file}`,
      pty: true,
      waitMs: 30_000,
    })
    const { pid } = begun.structured.process
    await daemon.reeve.wait({ pid, timeoutMs: 30_000 })
    const { lines } = await daemon.reeve.screen({ pid })
    expect(lines[0]).toBe(`done${'*'.repeat(36)}`)
    const revealed = await daemon.reeve.screen({ pid, reveal: true })
    expect(revealed.lines[0]).toBe(`done${key}`)
    expectNone('process_start', begun, { secrets: [key] })
    expect((await daemon.reeve.screen({ pid })).lines[0]).toBe(`done${'*'.repeat(36)}`)
  })
})

test('where to reply is shown without secrets in notices, records and events', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const token = invented('where to reply', 36)
  await reeve.openSession({ session: 's' })
  const { record } = await reeve.spawn({
    kind: 'command',
    spec: { run: 'true' },
    owner: { session: 's' },
    replyTo: { url: `https://bot:${token}@chat.example.org`, headers: { 'x-api-key': token }, thread: 7 },
  })
  await reeve.wait({ pid: record.pid })
  const told = []
  for await (const notice of reeve.inbox({ scope: 'session:s' })) {
    told.push(notice)
    break
  }
  const answers = {
    record,
    told,
    notices: await reeve.notices({ scope: 'session:s', all: true }),
    show: await reeve.show({ pid: record.pid }),
    events: await reeve.events({ pid: record.pid }),
    changes: await reeve.changes({ limit: 1_000 }),
  }
  expect(answers.notices.notices[0]?.replyTo).toMatchObject({ thread: 7 })
  for (const [what, answer] of Object.entries(answers)) expectNone(what, answer, { secrets: [token] })
})

describe('a process that is no command', () => {
  const secret = invented('of a tool', 36)
  const hidden = { secrets: [secret, 'correcthorsebattery'] }
  const tools = {
    echo: ({ input }: { input: unknown }) => input as never,
    boom: () => {
      throw new Error(`postgres://app:correcthorsebattery@db refused ghp_${secret}`)
    },
  }
  const open = async (onReveal: (revealed: object) => void = () => undefined) => {
    const reeve = await embed({ store: join(tempFolder(), 'reeve.db'), tools, onReveal })
    onTestFinished(() => reeve.close())
    await reeve.openSession({ session: 's' })
    return reeve
  }

  test('has no secret in messages, reasons and notices', async () => {
    const reeve = await open()
    const { record } = await reeve.spawn({
      kind: 'tool',
      spec: { tool: 'boom', input: null },
      label: `with ghp_${secret}`,
      owner: { session: 's' },
    })
    const { pid } = record
    const waited = await reeve.wait({ pid })
    expect(waited).toMatchObject({ record: { outcome: { status: 'failed' } } })
    const told = []
    for await (const notice of reeve.inbox({ scope: 'session:s' })) {
      told.push(notice)
      break
    }
    const answers = {
      record,
      waited,
      told,
      any: await reeve.waitAny({ pids: [pid] }),
      all: await reeve.waitAll({ pids: [pid] }),
      heard: await reeve.waitFor({ pid, types: ['ended'] }),
      notices: await reeve.notices({ scope: 'session:s', all: true }),
      show: await reeve.show({ pid }),
      list: await reeve.list({ filter: { status: 'any' } }),
      events: await reeve.events({ pid }),
      changes: await reeve.changes({ limit: 1_000 }),
    }
    for (const [what, answer] of Object.entries(answers)) expectNone(what, answer, hidden)
    const { record: external } = await reeve.spawn({ kind: 'external', spec: { description: 'it' } })
    await reeve.signal({ pid: external.pid, signal: 'cancel', reason: `because of ghp_${secret}` })
    expectNone('stop', await reeve.show({ pid: external.pid }), hidden)
    expectNone(
      'stop requested',
      await reeve.waitFor({ pid: external.pid, types: ['stop_requested'] }),
      hidden,
    )
  })

  test('has its session and its grants shown without secrets', async () => {
    const reeve = await open()
    const label = `ghp_${secret}`
    const opened = await reeve.openSession({ session: 'v', label })
    const { record } = await reeve.spawn({ kind: 'external', spec: { description: 'it' } })
    const descriptor = { note: label, password: 'correcthorsebattery' }
    const granted = await reeve.grant({ session: 'v', pids: [record.pid], descriptor })
    const answers = {
      opened,
      granted,
      sessions: await reeve.sessions({}),
      grants: await reeve.grants({ session: 'v' }),
    }
    expect(answers.grants.grants).toHaveLength(1)
    for (const [what, answer] of Object.entries(answers)) expectNone(what, answer, hidden)
  })

  test('passes its input and result to programs unmasked, and masks them everywhere else', async () => {
    const noted: object[] = []
    const reeve = await open((revealed) => void noted.push(revealed))
    const input = { token: `ghp_${secret}`, password: 'correcthorsebattery' }
    const { record } = await reeve.spawn({
      kind: 'tool',
      spec: { tool: 'echo', input },
      eventTypes: { said: { schema: {} } },
    })
    const { pid } = record
    expect(await reeve.wait({ pid })).toMatchObject({
      record: { spec: { input }, outcome: { result: input } },
    })
    const { record: external } = await reeve.spawn({
      kind: 'external',
      spec: { description: 'it' },
      eventTypes: { said: { schema: {} } },
    })
    await reeve.append({ events: [{ pid: external.pid, type: 'said', payload: input }] })
    await reeve.send({ pid: external.pid, name: 'go', value: input })
    const heard = await reeve.waitFor({ pid: external.pid, types: ['said'] })
    expect(heard).toMatchObject({ event: { payload: input } })
    expect(await reeve.waitFor({ pid: external.pid, types: ['signal.go'] })).toMatchObject({
      event: { payload: { value: input } },
    })
    const seen = async (reveal: boolean) => {
      const followed = []
      const { position } = await reeve.changes({ limit: 1_000 })
      for await (const event of reeve.follow({ after: 0, reveal })) {
        followed.push(event)
        if (event.position >= position) break
      }
      return {
        followed,
        show: await reeve.show({ pid, reveal }),
        list: await reeve.list({ filter: { status: 'any' }, reveal }),
        events: await reeve.events({ pid, reveal }),
        changes: await reeve.changes({ limit: 1_000, reveal }),
      }
    }
    for (const [what, answer] of Object.entries(await seen(false))) expectNone(what, answer, hidden)
    for (const answer of Object.values(await seen(true)))
      expect(JSON.stringify(answer)).toContain(`ghp_${secret}`)
    expect(noted).toEqual([
      { pid, actor: 'host', verb: 'follow' },
      { pid: external.pid, actor: 'host', verb: 'follow' },
    ])
    const { events } = await reeve.events({ pid: external.pid })
    expect(events.filter(({ type }) => type === 'revealed')).toHaveLength(1)
    const own = reeve.as('session:s')
    for (const asked of [
      own.list({ reveal: true }),
      own.changes({ reveal: true }),
      own.follow({ reveal: true })[Symbol.asyncIterator]().next(),
    ])
      await expect(asked).rejects.toMatchObject({ code: 'denied' })
  })
})

describe('what Reeve was given', () => {
  test('as a variable to pass on is masked where it is printed, also after the daemon was replaced', async () => {
    await using temp = new TempReeve()
    process.env['REEVE_TEST_PLAIN'] = 'a value without any shape'
    try {
      const reeve = await temp.embed()
      const { pid } = await start(reeve, { run: 'echo "<$REEVE_TEST_PLAIN>"', passEnv: ['REEVE_TEST_PLAIN'] })
      await reeve.wait({ pid })
      const masked = `<${'*'.repeat(25)}>\n`
      expect((await reeve.poll({ pid })).text).toBe(masked)
      await reeve.close()
      const next = await temp.embed()
      expect((await next.poll({ pid, cursor: 'o0' })).text).toBe(masked)
    } finally {
      delete process.env['REEVE_TEST_PLAIN']
    }
  })

  test('as a variable to pass on, or by an environment, is masked in the command line, too', async () => {
    await using temp = new TempReeve()
    process.env['REEVE_TEST_PLAIN'] = 'a-value-without-any-shape'
    try {
      const reeve = await temp.embed()
      const { envRef } = await reeve.putEnvironment({
        variables: { OTHER: { secret: 'REEVE_TEST_PLAIN' } },
        policy: {},
        options: {},
      })
      const run = 'echo a-value-without-any-shape; exit 2'
      for (const asked of [
        { spec: { run, passEnv: ['REEVE_TEST_PLAIN'] }, name: 'a-value-without-any-shape' },
        { spec: { run }, envRef },
      ]) {
        const spawned = await reeve.spawn({ kind: 'command', ...asked })
        const { pid } = spawned.record
        const answers = {
          spawned,
          waited: await reeve.wait({ pid }),
          show: await reeve.show({ pid }),
          list: await reeve.list({ filter: { status: 'any' } }),
          events: await reeve.events({ pid }),
          log: await reeve.log({ pid }),
        }
        for (const [what, answer] of Object.entries(answers))
          expectNone(what, answer, { secrets: ['a-value-without-any-shape'] })
      }
      const [first] = (await reeve.list({ filter: { status: 'any' } })).processes
      const other = { kind: 'command', spec: { run: 'true' }, pid: first?.record.pid ?? '' } as const
      const conflict = await reeve.spawn(other).catch((error: unknown) => error)
      expect(conflict).toMatchObject({ code: 'conflict' })
      expectNone('conflict', [String(conflict), conflict], { secrets: ['a-value-without-any-shape'] })
    } finally {
      delete process.env['REEVE_TEST_PLAIN']
    }
  })

  test('as values and patterns of its own is masked, and nothing where masking is off', async () => {
    await using temp = new TempReeve()
    const text = `ACME-123456 swordfish-1 ghp_${invented('off', 36)}`
    const file = join(tempFolder(), 'text')
    writeFileSync(file, text)
    const redact = { values: ['swordfish-1'], patterns: ['ACME-[0-9]+'] }
    const reeve = await temp.embed({}, { redact })
    const { pid } = await start(reeve, `cat ${file}`)
    await reeve.wait({ pid })
    expect((await reeve.poll({ pid })).text).toBe(`${'*'.repeat(11)} ${'*'.repeat(11)} ghp_${'*'.repeat(36)}`)
    await reeve.close()
    const open = await temp.embed({}, { redact: false })
    expect((await open.poll({ pid, cursor: 'o0' })).text).toBe(text)
  })

  test('as an invalid pattern is refused at the start', async () => {
    await expect(new TempReeve().up({ flags: { redactPatterns: '(?<=x)y' } })).rejects.toMatchObject({
      code: 'bad_configuration',
      details: { key: 'redactPatterns' },
    })
    await using temp = new TempReeve()
    await expect(temp.embed({}, { redact: { patterns: ['(?<=x)y'] } })).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('redact.patterns'),
    })
  })
})

describe('reveal', () => {
  const secret = invented('revealed', 36)
  const line = (folder: string) => {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'text'), `ghp_${secret}\n`)
    return `cat ${join(folder, 'text')}; cat`
  }

  test('shows the host what was printed, and is noted with the process once a minute', async () => {
    await using temp = new TempReeve()
    const noted: object[] = []
    const reeve = await temp.embed({}, { onReveal: (revealed) => void noted.push(revealed) })
    const { pid } = await start(reeve, { run: line(tempFolder()), stdin: 'pipe' })
    await printed(reeve, pid, 'ghp_')
    expect((await reeve.log({ pid })).lines[0]?.text).toBe(`ghp_${'*'.repeat(36)}`)
    expect((await reeve.log({ pid, reveal: true })).lines[0]?.text).toBe(`ghp_${secret}`)
    expect((await reeve.poll({ pid, cursor: 'o0', reveal: true })).text).toContain(secret)
    expect((await reeve.search({ pid, text: secret, reveal: true })).total).toBe(1)
    expect(Buffer.from((await reeve.output({ pid, reveal: true })).bytes).toString()).toContain(secret)
    for await (const { bytes } of reeve.followOutput({ pid, reveal: true })) {
      expect(Buffer.from(bytes).toString()).toContain(secret)
      break
    }
    const { events } = await reeve.events({ pid })
    const revealed = events.filter(({ type }) => type === 'revealed')
    expect(revealed).toMatchObject([{ actor: 'host', payload: { source: 'host', verb: 'log' } }])
    expect(noted).toEqual([{ pid, actor: 'host', verb: 'log' }])
    await reeve.kill({ pid })
    expect((await reeve.log({ pid, reveal: true })).lines[0]?.text).toBe(`ghp_${secret}`)
    expect((await reeve.events({ pid })).events.at(-1)).toMatchObject({ type: 'ended' })
  })

  test('of an ended process becomes a process warning without an onReveal listener', async () => {
    await using temp = new TempReeve()
    const reeve = await temp.embed()
    const { pid } = await start(reeve, { argv: ['true'] })
    await reeve.wait({ pid })
    const warned = once(process, 'warning')
    await reeve.log({ pid, reveal: true })
    expect(await warned).toMatchObject([
      { name: 'ReeveWarning', message: expect.stringContaining(`host was shown secrets of ${pid} (log)`) },
    ])
  })

  test('is refused to a session, and changes nothing', async () => {
    await using temp = new TempReeve()
    const reeve = await temp.embed()
    await reeve.openSession({ session: 's' })
    const { pid } = await start(
      reeve,
      { run: line(tempFolder()), stdin: 'pipe' },
      { owner: { session: 's' } },
    )
    await printed(reeve, pid, 'ghp_')
    const own = reeve.as('session:s')
    for (const asked of [
      own.log({ pid, reveal: true }),
      own.show({ pid, reveal: true }),
      own.events({ pid, reveal: true }),
      own.poll({ pid, reveal: true }),
      own.followOutput({ pid, reveal: true })[Symbol.asyncIterator]().next(),
    ])
      await expect(asked).rejects.toMatchObject({ code: 'denied' })
    const first = await own.followOutput({ pid, terminal: true })[Symbol.asyncIterator]().next()
    expect(Buffer.from(first.value?.bytes ?? []).toString()).toBe(`ghp_${'*'.repeat(36)}\n`)
    expect((await reeve.events({ pid })).events.map(({ type }) => type)).not.toContain('revealed')
  })

  test('needs a token with the role admin over HTTP', async () => {
    const temp = new TempReeve()
    const daemon = await temp.up()
    const pid = await ended(daemon, `${line(tempFolder())} </dev/null`)
    const { token } = new TokenFile(temp.home).create({ role: 'operate' })
    for (const path of [
      'log?reveal=true',
      'output/stream?reveal=true',
      'output?reveal=true',
      'events?reveal=true',
      'events/stream?reveal=true',
      '?reveal=true',
    ]) {
      const at = `GET /v1/processes/${pid}${path.startsWith('?') ? '' : '/'}${path}`
      expect(await ask(daemon, at, { token })).toMatchObject({ status: 403, json: { code: 'forbidden' } })
      expect(await ask(daemon, at, { token: daemon.token })).toMatchObject({ status: 200 })
    }
    for (const at of [
      'GET /v1/processes?reveal=true',
      'GET /v1/changes?reveal=true',
      'GET /v1/changes/stream?reveal=true',
    ]) {
      expect(await ask(daemon, at, { token })).toMatchObject({ status: 403, json: { code: 'forbidden' } })
      expect(await ask(daemon, at, { token: daemon.token })).toMatchObject({ status: 200 })
    }
    const stream = `GET /v1/processes/${pid}/output/stream`
    expect((await ask(daemon, `${stream}?reveal=true`, { token: daemon.token })).text).toContain(secret)
    for (const path of ['output/stream?terminal=true', 'output?terminal=true']) {
      const said = await ask(daemon, `GET /v1/processes/${pid}/${path}`, { token })
      expect(said.status).toBe(200)
      const isPage = path.startsWith('output?')
      const shown = isPage ? Buffer.from(said.json.bytes.$bytes, 'base64').toString() : said.text
      expectNone(path, shown, { secrets: [secret] })
    }
    expect((await ask(daemon, `${stream}?terminal=true`, { token: daemon.token })).text).toContain(secret)
    expect((await ask({ home: temp.home, url: null }, `${stream}?terminal=true`)).text).toContain(secret)
    expect((await ask(daemon, stream, { token: daemon.token })).text).not.toContain(secret)
    const reader = new TokenFile(temp.home).create({ role: 'read' })
    expect(await ask(daemon, `${stream}?terminal=true`, { token: reader.token })).toMatchObject({
      status: 403,
    })
    expect(temp.logged).toContainEqual(expect.objectContaining({ words: 'secrets were shown' }))
  })
})

test('a terminal shows secrets to an admin, and notes it; other roles see them masked', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up()
  const secret = invented('terminal', 36)
  const file = join(tempFolder(), 'text')
  writeFileSync(file, `ghp_${secret}\n`)
  const pid = await ended(daemon, `cat ${file}`, { pty: true })
  const shown = () => temp.logged.filter(({ words }) => words === 'secrets were shown').length
  const tokens = new TokenFile(temp.home)
  const seenWith = async (token: string) => {
    const reeve = await connect({ url: daemon.url ?? '', token })
    try {
      let seen = ''
      for await (const { bytes } of await reeve.attach({ pid })) seen += Buffer.from(bytes).toString()
      return seen
    } finally {
      await reeve.close()
    }
  }
  expect(shown()).toBe(0)
  for (const role of ['read', 'operate'] as const)
    expect(await seenWith(tokens.create({ role }).token)).toBe(`ghp_${'*'.repeat(36)}\r\n`)
  expect(shown()).toBe(0)
  expect(await seenWith(tokens.create({ role: 'admin' }).token)).toBe(`ghp_${secret}\r\n`)
  expect(shown()).toBe(1)
})

test('on the command line, run in the foreground shows secrets, and logs show them with --reveal', async () => {
  const reeve = new CommandLine()
  const secret = invented('command line', 36)
  const file = join(tempFolder(), 'text')
  writeFileSync(file, `ghp_${secret}\n`)
  const ran = await reeve.run(['run', '--name', 'job', '--', 'cat', file])
  expect(ran).toMatchObject({ code: 0, stdout: `ghp_${secret}\n` })
  expect((await reeve.run(['logs', 'job'])).stdout).toBe(`ghp_${'*'.repeat(36)}\n`)
  expect((await reeve.run(['logs', '--reveal', 'job'])).stdout).toBe(`ghp_${secret}\n`)
  expect((await reeve.run(['search', 'job', secret])).code).toBe(1)
  expect((await reeve.run(['search', '--reveal', 'job', secret])).stdout).toContain(secret)
  await reeve.run(['run', '-d', '--', 'sh', '-c', `true ghp_${secret}`])
  for (const words of [['ps', '-a'], ['tree', '-a'], ['events'], ['ps', '-a', '--json']])
    expectNone(words.join(' '), (await reeve.run(words)).stdout, { secrets: [secret] })
  for (const words of [
    ['ps', '-a', '--reveal', '--json'],
    ['events', '--reveal', '--json'],
  ])
    expect((await reeve.run(words)).stdout).toContain(secret)
})

test('the log of the daemon has no secret', async () => {
  const temp = new TempReeve()
  const secret = invented('daemon log', 36)
  writeFileSync(temp.home.config, JSON.stringify({ shell: `/nowhere/ghp_${secret}`, logLevel: 'trace' }))
  const started = await temp.start(['--listen', '127.0.0.1:0', '--environment', 'login'])
  const where = { home: temp.home, url: started.url }
  await ask(where, `GET /v1/processes/ghp_${secret}`)
  await ask(where, 'POST /v1/processes', { body: { kind: 'command', spec: { argv: ['true'] } } })
  started.signal('SIGTERM')
  await started.ended()
  expect(started.stderr).toContain('ghp_')
  expectNone('stderr', started.stderr, { secrets: [secret] })
})

test("the log of the daemon has neither the login shell's secrets nor configured ones", async () => {
  const temp = new TempReeve()
  const shell = join(tempFolder(), 'shell')
  writeFileSync(shell, '#!/bin/sh\nexport LOGIN_TOKEN=swordfish-and-chips\nexec /bin/sh "$@"\n', {
    mode: 0o700,
  })
  writeFileSync(temp.home.config, JSON.stringify({ logLevel: 'trace', redactPatterns: ['ACME-[0-9]{6}'] }))
  const started = await temp.start(['--listen', '127.0.0.1:0'], {
    ...{ REEVE_SHELL: shell, REEVE_ENVIRONMENT: 'login' },
  })
  const where = { home: temp.home, url: started.url }
  await ask(where, 'POST /v1/processes', { body: { kind: 'command', spec: { argv: ['true'] } } })
  for (const secret of ['swordfish-and-chips', 'ACME-123456'])
    await ask(where, `GET /v1/processes/x${secret}`)
  started.signal('SIGTERM')
  await started.ended()
  expect(started.stderr).toContain('/v1/processes/x***')
  expectNone('stderr', started.stderr, { secrets: ['swordfish-and-chips', 'ACME-123456'] })
})
