import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { embed, type Reeve, ReeveError } from 'reeve'
import { expect, test } from 'vitest'
import { codeOf, runs, start, TempReeve } from './commands.ts'
import { startDaemon } from './daemon-program.ts'

const SLEEPER = { argv: ['sleep', '1000'] as [string, ...string[]] }

/** Each verb that is for one command, asked of a pid. */
const COMMAND_VERBS: Readonly<Record<string, (reeve: Reeve, pid: string) => Promise<unknown>>> = {
  poll: (reeve, pid) => reeve.poll({ pid }),
  log: (reeve, pid) => reeve.log({ pid }),
  search: (reeve, pid) => reeve.search({ pid, text: 'x' }),
  screen: (reeve, pid) => reeve.screen({ pid }),
  output: (reeve, pid) => reeve.output({ pid }),
  usage: (reeve, pid) => reeve.usage({ pid }),
  write: (reeve, pid) => reeve.write({ pid, text: 'x' }),
  submit: (reeve, pid) => reeve.submit({ pid, text: 'x' }),
  closeInput: (reeve, pid) => reeve.closeInput({ pid }),
  resize: (reeve, pid) => reeve.resize({ pid, cols: 80, rows: 24 }),
  signal: (reeve, pid) => reeve.signal({ pid, signal: 'SIGHUP' }),
  attach: (reeve, pid) => reeve.attach({ pid }),
  followOutput: (reeve, pid) => reeve.followOutput({ pid })[Symbol.asyncIterator]().next(),
  'wait until': (reeve, pid) => reeve.wait({ pid, until: { text: 'x' } }),
}

async function codes(reeve: Reeve, pid: string): Promise<Record<string, string>> {
  const answers: Record<string, string> = {}
  for (const [name, ask] of Object.entries(COMMAND_VERBS)) answers[name] = await codeOf(ask(reeve, pid))
  return answers
}

const all = (code: string) => Object.fromEntries(Object.keys(COMMAND_VERBS).map((name) => [name, code]))

test('a missing folder or program is a failed start with a remedy, and leaves no process', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const file = join(temp.folder, 'not-a-program')
  writeFileSync(file, 'just text')
  const tried = [
    [SLEEPER, { cwd: '/no/such/folder' }, /\/no\/such\/folder/],
    [SLEEPER, { cwd: file }, /not-a-program/],
    [{ argv: ['no-such-program-anywhere'] }, {}, /no-such-program-anywhere/],
    [{ argv: ['/no/such/program'] }, {}, /\/no\/such\/program/],
    [{ argv: [file] }, {}, /not-a-program/],
    [{ argv: ['/usr'] }, {}, /\/usr/],
    [{ argv: ['no-such-program-anywhere'], pty: true }, {}, /no-such-program-anywhere/],
    [{ argv: [file], pty: true }, {}, /not-a-program/],
    [{ ...SLEEPER, pty: true }, { cwd: '/no/such/folder' }, /\/no\/such\/folder/],
    [{ argv: ['no-such-program-anywhere'], output: 'direct' }, {}, /no-such-program-anywhere/],
  ] as const
  for (const [spec, request, message] of tried) {
    const record = await start(reeve, { ...spec, argv: [...spec.argv] } as never, request)
    expect(record.outcome, JSON.stringify(spec)).toMatchObject({
      status: 'failed',
      reason: 'failed_start',
      exitCode: null,
      signal: null,
      result: { message: expect.stringMatching(message), remedy: expect.stringMatching(/\w{3}/) },
    })
    expect(record.program).toBeNull()
    expect(await reeve.poll({ pid: record.pid })).toMatchObject({ text: '', more: false })
  }
  expect(temp.programs()).toEqual([])
  // A shell that finds no such program says so itself, with the code that shells have for it.
  expect((await runs(reeve, 'no-such-program-anywhere')).outcome).toMatchObject({
    exitCode: 127,
    reason: null,
  })
})

test('a spec that makes no sense is refused before anything is registered', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const specs: object[] = [
    {},
    { run: 'true', argv: ['true'] },
    { argv: [] },
    { run: '' },
    { run: 'a\0b' },
    { argv: ['a\0b'] },
    { run: 'true', limits: { memoryBytes: 1 } },
    { run: 'true', limits: { cpuSeconds: -1 } },
    { run: 'true', limits: { openFiles: 1.5 } },
    { run: 'true', limits: { outputBytes: 0 } },
    { run: 'true', limits: { wishes: 3 } },
    { run: 'true', timeoutMs: 0 },
    { run: 'true', idleTimeoutMs: -1 },
    { run: 'true', graceMs: 'long' },
    { run: 'true', endSignal: 'TERM' },
    { run: 'true', endSignal: 'SIGNOPE' },
    { run: 'true', pty: { cols: 0 } },
    { run: 'true', pty: 'yes' },
    { run: 'true', stdin: 'file' },
    { run: 'true', output: 'split' },
    { run: 'true', env: { 'A=B': 'c' } },
    { run: 'true', env: { A: 'b\0c' } },
    { run: 'true', shell: 'zsh' },
  ]
  for (const spec of specs)
    expect(await codeOf(reeve.spawn({ kind: 'command', spec } as never)), JSON.stringify(spec)).toBe(
      'invalid_input',
    )
  expect((await reeve.list({ filter: { status: 'any' } })).processes).toEqual([])
})

test('a signal that does not exist is refused, by its form or by its name', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(reeve, SLEEPER)
  for (const signal of ['SIGNONE', 'TERM', 'sigterm', '15', ''])
    expect(await codeOf(reeve.signal({ pid, signal } as never)), signal).toBe('invalid_input')
  expect(await codeOf(start(reeve, { ...SLEEPER, endSignal: 'SIGNONE' }))).toBe('invalid_input')
  expect((await reeve.show({ pid })).status).toBe('running')
})

test('every verb of commands refuses an unknown process', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  expect(await codes(reeve, 'p_nobody00000')).toEqual(all('unknown_pid'))
  expect(await codeOf(reeve.kill({ pid: 'p_nobody00000' }))).toBe('unknown_pid')
  expect(await codeOf(reeve.restart({ pid: 'p_nobody00000' }))).toBe('unknown_pid')
})

test('a command that has ended can be read for ever, and is written to no more', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await runs(reeve, { run: 'echo x', pty: true })
  const read = {
    poll: 'accepted',
    log: 'accepted',
    search: 'accepted',
    screen: 'accepted',
    output: 'accepted',
  }
  const followed = {
    usage: 'accepted',
    attach: 'accepted',
    followOutput: 'accepted',
    'wait until': 'accepted',
  }
  expect(await codes(reeve, pid)).toEqual({ ...all('already_ended'), ...read, ...followed })
  for (const signal of ['pause', 'resume', 'interrupt'] as const)
    expect(await codeOf(reeve.signal({ pid, signal })), signal).toBe('already_ended')
  expect((await reeve.kill({ pid })).type).toBe('already_ended')
})

test('verbs that only commands support are refused for other processes', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed({}, { tools: { hang: () => new Promise(() => {}) } })
  const { record: elsewhere } = await reeve.spawn({ kind: 'external', spec: { description: 'elsewhere' } })
  const { record: tool } = await reeve.spawn({ kind: 'tool', spec: { tool: 'hang' } })
  for (const { pid } of [elsewhere, tool]) expect(await codes(reeve, pid)).toEqual(all('not_command'))
  await reeve.end({ pid: elsewhere.pid, status: 'completed', replayKey: 'e' })
})

test('a program without the commands option refuses commands with a remedy, and leaves them to a program that has it', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const without = await embed({ store: temp.store })
  const { pid } = await start(reeve, SLEEPER)
  expect(await codes(without, pid)).toEqual(all('not_served'))
  expect((await without.status()).keeper).toBeNull()
  expect((await without.show({ pid })).status).toBe('running')
  // The other kernel starts its commands, and its requests reach the program.
  const other = await start(without, SLEEPER)
  await reeve.waitFor({ pid: other.pid, types: ['program_started'] })
  expect((await without.kill({ pid: other.pid })).record.outcome).toMatchObject({ signal: 'SIGTERM' })
  await without.close()
})

test('a second daemon on the same folder is refused with the PID of the first', async () => {
  await using temp = new TempReeve()
  const daemon = await startDaemon(temp)
  const refused = await embed({
    store: join(temp.folder, 'other.db'),
    commands: { home: temp.keeperHome.folder, environment: 'inherit' },
  }).then(
    () => null,
    (error: unknown) => error,
  )
  expect(refused).toBeInstanceOf(ReeveError)
  expect(refused).toMatchObject({
    code: 'daemon_already_running',
    message: expect.stringContaining(String(daemon.osPid)),
    details: { osPid: daemon.osPid },
  })
  // It did not disturb the first.
  const { record } = await daemon.call('spawn', { kind: 'command', spec: { run: 'echo fine' } })
  expect((await daemon.call('wait', { pid: record.pid })).type).toBe('ended')
  await daemon.close()
  await temp.embed()
})

test('a second daemon within the same program is refused as well', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  expect(await codeOf(temp.embed())).toBe('daemon_already_running')
  expect((await runs(reeve, 'echo fine')).text).toBe('fine\n')
})

test('one command too many is refused, unless it is there already', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed({ most: 2 })
  const one = await start(reeve, SLEEPER, { idempotencyKey: 'one' })
  await start(reeve, SLEEPER)
  expect(await codeOf(start(reeve, SLEEPER))).toBe('too_many_commands')
  expect(await codeOf(start(reeve, SLEEPER, { idempotencyKey: 'new' }))).toBe('too_many_commands')
  const again = await reeve.spawn({ kind: 'command', spec: SLEEPER, idempotencyKey: 'one' })
  expect([again.type, again.record.pid]).toEqual(['existing', one.pid])
  expect((await reeve.list({ filter: { status: 'any' } })).processes).toHaveLength(2)
  await reeve.kill({ pid: one.pid })
  expect((await start(reeve, SLEEPER)).status).toBe('running')
})

test('the same command of the same owner, twice within seconds, is warned of', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const spawn = (spec: object, more: object = {}) =>
    reeve.spawn({ kind: 'command', spec: spec as typeof SLEEPER, ...more })
  const first = await spawn({ argv: ['sleep', '1000'] })
  expect(first).not.toHaveProperty('warning')
  expect((await spawn({ argv: ['sleep', '1000'] })).warning).toEqual({
    code: 'duplicate_of',
    pid: first.record.pid,
  })
  expect(await spawn({ argv: ['sleep', '1001'] })).not.toHaveProperty('warning')
  expect(await spawn({ argv: ['sleep', '1000'] }, { cwd: '/' })).not.toHaveProperty('warning')
  const named = await spawn({ argv: ['sleep', '1002'], env: { A: '1', B: '2' } })
  expect((await spawn({ env: { B: '2', A: '1' }, argv: ['sleep', '1002'] })).warning).toEqual({
    code: 'duplicate_of',
    pid: named.record.pid,
  })
  await reeve.openSession({ session: 's' })
  expect(await spawn({ argv: ['sleep', '1000'] }, { owner: { session: 's' } })).not.toHaveProperty('warning')
})
