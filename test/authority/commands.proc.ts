import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Embedded, InputOf } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import type { JsonObject } from '../../src/core/json/json.ts'
import { tempFolder } from '../temp-folder.ts'
import { TempReeve } from '../temp-reeve.ts'
import { codeOf, onlyPending, pendingIn } from './ruled-reeve.ts'

/** Attacks on approved commands: one character of what would run, or another file behind its name, is another action. */

type Command = Extract<InputOf<'spawn'>, { kind: 'command' }>

/** A program that notes its calls outside of Reeve. */
function notedProgram(name = 'deploy') {
  const folder = tempFolder()
  const calls = join(folder, 'calls')
  writeFileSync(calls, '')
  const write = (path: string, says: string) => {
    writeFileSync(path, `#!/bin/sh\necho "${says} $*" >> ${calls}\n`)
    chmodSync(path, 0o755)
  }
  const path = join(folder, name)
  write(path, name)
  return { folder, path, write, calls: () => readFileSync(calls, 'utf8') }
}

async function ruled(temp: TempReeve, ...rules: readonly JsonObject[]) {
  const reeve = await temp.embed()
  for (const session of ['s1', 's2']) await reeve.openSession({ session })
  for (const rule of rules) await reeve.addRule({ rule })
  return { reeve, agent: reeve.as('session:s1'), other: reeve.as('session:s2') }
}

const ASK = { effect: 'ask', resource: 'shell:deploy' }

/** Programs are looked for in these folders first, until the end of the test. */
function searchFirst(...folders: readonly string[]): void {
  const path = process.env['PATH']
  process.env['PATH'] = [...folders, path].join(':')
  onTestFinished(() => {
    process.env['PATH'] = path
  })
}

/** Approves a command, and expects that it is asked about again instead of run. */
async function expectAskedAgain(reeve: Embedded, id: string, pid: string): Promise<void> {
  await reeve.approve({ id })
  await expect
    .poll(async () => (await pendingIn(reeve)).filter((one) => one.pid === pid).map((one) => one.id))
    .toEqual([expect.not.stringMatching(new RegExp(`^${id}$`))])
  expect((await reeve.show({ pid })).status).toBe('waiting')
}

test('one character of argv, variables, folder, input or parent makes another action', async () => {
  await using temp = new TempReeve()
  const { reeve, agent, other } = await ruled(temp, ASK)
  const { folder, path, calls } = notedProgram()
  const second = `${folder}2`
  mkdirSync(second)
  const parent = (await agent.spawn({ kind: 'external', spec: { description: 'x' } })).record.pid
  const hashOf = async (request: Partial<Command>, by = agent) => {
    const { spec, ...rest } = request
    const { record } = await by.spawn({
      kind: 'command',
      spec: { argv: [path, 'now'], ...spec },
      cwd: folder,
      ...rest,
    })
    const found = (await pendingIn(reeve)).find(({ pid }) => pid === record.pid)
    if (found?.request.type !== 'permission') throw new Error('It was not asked about')
    return found.request.actionHash
  }
  const first = await hashOf({})
  expect(await hashOf({ name: 'named', label: 'labelled' })).toBe(first)
  const others = [
    await hashOf({ spec: { argv: [path, 'noW'] } }),
    await hashOf({ spec: { argv: [path, 'now', ''] } }),
    await hashOf({ spec: { argv: [path, 'now'], env: { A: '1' } } }),
    await hashOf({ spec: { argv: [path, 'now'], env: { A: '2' } } }),
    await hashOf({ spec: { argv: [path, 'now'], stdin: 'pipe' } }),
    await hashOf({ cwd: second }),
    await hashOf({ parent }),
    await hashOf({}, other),
  ]
  expect(new Set([first, ...others]).size).toBe(others.length + 1)
  expect(calls()).toBe('')
})

test('a symbolic link that leads elsewhere after the approval is asked about again', async () => {
  await using temp = new TempReeve()
  const { reeve, agent } = await ruled(temp, ASK)
  const { folder, path, write, calls } = notedProgram('original')
  const evil = join(folder, 'evil')
  write(evil, 'evil')
  const link = join(folder, 'deploy')
  symlinkSync(path, link)
  await agent.spawn({ kind: 'command', spec: { argv: [link] }, cwd: folder })
  const { id, pid } = await onlyPending(reeve)
  unlinkSync(link)
  symlinkSync(evil, link)
  await expectAskedAgain(reeve, id, pid)
  expect(calls()).toBe('')
})

test('a folder that is swapped for another one after the approval is asked about again', async () => {
  await using temp = new TempReeve()
  const { reeve, agent } = await ruled(temp, ASK)
  const { folder, path, calls } = notedProgram()
  const [here, there, link] = ['here', 'there', 'link'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  for (const made of [here, there]) mkdirSync(made)
  symlinkSync(here, link)
  await agent.spawn({ kind: 'command', spec: { argv: [path] }, cwd: link })
  const { id, pid } = await onlyPending(reeve)
  unlinkSync(link)
  symlinkSync(there, link)
  await expectAskedAgain(reeve, id, pid)
  expect(calls()).toBe('')
})

test('another folder of the process after the request is asked about again', async () => {
  await using temp = new TempReeve()
  const { reeve, agent } = await ruled(temp, ASK)
  const { folder, path, calls } = notedProgram()
  const elsewhere = tempFolder()
  await agent.spawn({ kind: 'command', spec: { argv: [path] }, cwd: folder })
  const { id, pid } = await onlyPending(reeve)
  await agent.changeCwd({ pid, cwd: elsewhere })
  await expectAskedAgain(reeve, id, pid)
  expect(calls()).toBe('')
})

test('another file of the same name that comes earlier in the path is asked about again', async () => {
  await using temp = new TempReeve()
  const first = tempFolder()
  const { folder, write, calls } = notedProgram()
  searchFirst(first, folder)
  const { reeve, agent } = await ruled(temp, ASK)
  await agent.spawn({ kind: 'command', spec: { argv: ['deploy'] }, cwd: folder })
  const { id, pid } = await onlyPending(reeve)
  write(join(first, 'deploy'), 'evil')
  await expectAskedAgain(reeve, id, pid)
  expect(calls()).toBe('')
})

test('a link that leads elsewhere before an allowed command is started again is asked about, and runs once with a yes', async () => {
  await using temp = new TempReeve()
  const { folder, path, write, calls } = notedProgram('original')
  const other = join(folder, 'other')
  write(other, 'other')
  const link = join(folder, 'deploy')
  symlinkSync(path, link)
  searchFirst(folder)
  const { reeve, agent } = await ruled(temp, { effect: 'allow', resource: 'shell:deploy' })
  // The second start is registered at the end of the first one.
  const restart = { on: 'always', limit: 1, delayMs: 5_000 } as const
  const first = await agent.spawn({ kind: 'command', spec: { argv: ['deploy'], restart }, cwd: folder })
  await reeve.wait({ pid: first.record.pid, timeoutMs: 60_000 })
  unlinkSync(link)
  symlinkSync(other, link)
  await expect.poll(async () => (await pendingIn(reeve)).length, { timeout: 60_000 }).toBe(1)
  const { id, pid, request } = await onlyPending(reeve)
  expect(await reeve.show({ pid })).toMatchObject({ status: 'waiting', restartOf: first.record.pid })
  expect(calls()).toBe('original \n')
  expect((await reeve.audit({ target: `process:${pid}` })).entries).toMatchObject([
    { actor: 'session:s1', action: 'ask_again', decision: 'asked', rule: { id: 'r1' } },
    { actor: 'session:s1', action: 'spawn', decision: 'allowed' },
  ])
  expect(request).toMatchObject({
    needs: ['execute shell:deploy'],
    action: { act: { programs: [{ real: other }] } },
    grants: ['once'],
  })
  await reeve.approve({ id })
  expect(await reeve.wait({ pid, timeoutMs: 60_000 })).toMatchObject({ record: { status: 'completed' } })
  expect(calls()).toBe('original \nother \n')
})

test('an allowed command whose files are the same begins without a question', async () => {
  await using temp = new TempReeve()
  const { folder, calls } = notedProgram()
  searchFirst(folder)
  const { reeve, agent } = await ruled(temp, { effect: 'allow', resource: 'shell:deploy' })
  const { record } = await agent.spawn({ kind: 'command', spec: { argv: ['deploy'] }, cwd: folder })
  expect(await reeve.wait({ pid: record.pid, timeoutMs: 60_000 })).toMatchObject({
    record: { status: 'completed', gate: null },
  })
  expect(calls()).toBe('deploy \n')
})

test('a program under another name, by a link or a copy in the path, meets the rule about its file', async () => {
  await using temp = new TempReeve()
  const { folder, path, calls } = notedProgram()
  const { agent } = await ruled(temp, { effect: 'ask', resource: `shell:${path}` })
  const link = join(folder, 'harmless')
  symlinkSync(path, link)
  const { record } = await agent.spawn({ kind: 'command', spec: { argv: [link] }, cwd: folder })
  expect(record.status).toBe('waiting')
  expect(calls()).toBe('')
})

test('the approved command runs once, also if it is restarted, repeated and started again', async () => {
  await using temp = new TempReeve()
  const { reeve, agent } = await ruled(temp, ASK)
  const { folder, path, calls } = notedProgram()
  const request: Command = {
    kind: 'command',
    spec: { argv: [path, 'now'] },
    cwd: folder,
    idempotencyKey: 'k',
  }
  await agent.spawn(request)
  const { id, pid } = await onlyPending(reeve)
  await reeve.approve({ id })
  await reeve.wait({ pid })
  expect(await agent.spawn(request)).toMatchObject({ type: 'existing' })
  expect((await agent.restart({ pid })).record.status).toBe('waiting')
  const { idempotencyKey: _, ...again } = request
  expect((await agent.spawn(again)).record.status).toBe('waiting')
  expect(calls()).toBe('deploy now\n')
})

test('a restart policy asks again before every start', async () => {
  await using temp = new TempReeve()
  const { reeve, agent } = await ruled(temp, ASK)
  const { folder, path, calls } = notedProgram()
  const spec = { argv: [path], restart: { on: 'always', limit: 5, delayMs: 1 } } as const
  await agent.spawn({ kind: 'command', spec: { ...spec, argv: [path] }, cwd: folder })
  const { id, pid } = await onlyPending(reeve)
  await reeve.approve({ id })
  await reeve.wait({ pid })
  await expect.poll(async () => (await pendingIn(reeve)).map((one) => one.pid)).not.toEqual([])
  expect((await onlyPending(reeve)).pid).not.toBe(pid)
  expect(calls()).toBe('deploy \n')
})

test('src is not src2: an allow for a folder covers no other one, however its path is written', async () => {
  await using temp = new TempReeve()
  const folder = tempFolder()
  const src = join(folder, 'src')
  for (const made of [src, `${src}2`]) mkdirSync(made)
  const { agent, reeve } = await ruled(
    temp,
    { effect: 'allow', resource: 'shell:echo' },
    { effect: 'allow', resource: `fs:${src}/**`, rights: ['write'] },
  )
  const writing = (target: string) =>
    codeOf(agent.spawn({ kind: 'command', spec: { run: `echo x > ${target}` }, cwd: src }))
  for (const target of [
    `${src}2/x`,
    '../src2/x',
    './../src2/x',
    `${src}/../src2/x`,
    `${src}//..//src2/x`,
    '../x',
  ])
    expect(await writing(target), target).toBe('denied')
  expect(existsSync(`${src}2/x`)).toBe(false)
  const { record } = await agent.spawn({ kind: 'command', spec: { run: 'echo x > x' }, cwd: src })
  await reeve.wait({ pid: record.pid })
  expect(existsSync(join(src, 'x'))).toBe(true)
})

test('a secret that a rule denies is given to no process, by environment or by name', async () => {
  await using temp = new TempReeve()
  process.env['HIDDEN_TOKEN'] = 'hidden-token-value'
  onTestFinished(() => {
    delete process.env['HIDDEN_TOKEN']
  })
  const { reeve, agent } = await ruled(temp, { effect: 'deny', resource: 'secret:**' })
  // Only the host may store an environment with secrets; its reference is no secret.
  const { envRef } = await reeve.putEnvironment({
    variables: { GIVEN: { secret: 'HIDDEN_TOKEN' } },
    policy: {},
    options: {},
  })
  const command = { kind: 'command', spec: { run: 'echo $GIVEN' }, cwd: temp.folder } as const
  expect(await codeOf(agent.spawn({ ...command, envRef }))).toBe('denied')
  expect(await codeOf(agent.spawn({ ...command, baseEnvRef: envRef }))).toBe('denied')
  expect(await codeOf(agent.spawn({ ...command, spec: { run: 'env', passEnv: ['HIDDEN_TOKEN'] } }))).toBe(
    'denied',
  )
  expect(await codeOf(agent.spawn({ kind: 'tool', spec: { tool: 'any', input: null }, envRef }))).toBe(
    'denied',
  )
  expect((await reeve.list({ filter: { status: 'any' } })).processes).toEqual([])
})

test('an environment that the request names cannot bring another program behind an allowed name', async () => {
  await using temp = new TempReeve()
  const { folder, calls } = notedProgram('ls')
  const { agent } = await ruled(temp, { effect: 'allow', resource: 'shell:ls' })
  const environment = (variables: Record<string, string>) =>
    agent.putEnvironment({ variables, policy: {}, options: {} })
  for (const variables of [
    { PATH: `${folder}:/usr/bin:/bin` },
    { LD_PRELOAD: '/tmp/evil.so' },
    { BASH_ENV: join(folder, 'ls') },
  ]) {
    const { envRef } = await environment(variables)
    expect(
      await codeOf(agent.spawn({ kind: 'command', spec: { argv: ['ls'] }, cwd: folder, envRef })),
      JSON.stringify(variables),
    ).toBe('denied')
  }
  expect(calls()).toBe('')
})

test('a PATH in which all programs are the files that they always are is no doubt, and one with another program is', async () => {
  await using temp = new TempReeve()
  const { folder } = notedProgram('ls')
  const { reeve, agent } = await ruled(temp, { effect: 'ask', resource: 'shell:git push' })
  const path = process.env['PATH'] ?? ''
  const started = async (run: string, env: Record<string, string>) =>
    (await agent.spawn({ kind: 'command', spec: { run, env }, cwd: folder })).record
  for (const [run, env] of [
    ['ls', { PATH: path, PWD: folder }],
    ['ls | head -1', { PATH: path, HOME: process.env['HOME'] ?? '/' }],
    ['head -1 /dev/null && echo "$(pwd)"', { PATH: `${folder}:${path}` }],
  ] as const) {
    const { pid, gate } = await started(run, env)
    expect(gate, run).toBe(null)
    await reeve.wait({ pid, timeoutMs: 60_000 })
  }
  for (const [run, env] of [
    ['ls', { PATH: `${folder}:${path}` }],
    ['head -1 /dev/null | ls', { PATH: `${folder}:${path}` }],
    ['ls', { PATH: '' }],
    ['ls', { PATH: path, LD_PRELOAD: '/tmp/evil.so' }],
  ] as const)
    expect((await started(run, env)).status, `${run} ${JSON.stringify(env)}`).toBe('waiting')
  const explained = async (run: string) =>
    (await reeve.explainRules({ what: { type: 'run', run }, cwd: folder })).ruling.type
  expect([await explained('ls'), await explained('ls | head -1'), await explained('git push')]).toEqual([
    'allow',
    'allow',
    'ask',
  ])
})

test('an allow counts for the PATH that every command has, and for no folder besides', async () => {
  await using temp = new TempReeve()
  const { folder, calls } = notedProgram('pager')
  const { reeve, agent } = await ruled(temp, { effect: 'allow', resource: 'shell:ls' })
  const path = process.env['PATH'] ?? ''
  const run = (PATH: string) =>
    agent.spawn({ kind: 'command', spec: { argv: ['ls'], env: { PATH } }, cwd: folder })
  const { record } = await run(path)
  expect((await reeve.wait({ pid: record.pid, timeoutMs: 60_000 })).type).toBe('ended')
  for (const other of [`${folder}:${path}`, `${path}:${folder}`, `${path}:`, '.'])
    expect(await codeOf(run(other)), other).toBe('denied')
  expect(calls()).toBe('')
})

test('a denial is the same for what exists and for what does not', async () => {
  await using temp = new TempReeve()
  process.env['PRESENT_TOKEN'] = 'present-token-value'
  onTestFinished(() => {
    delete process.env['PRESENT_TOKEN']
  })
  const { folder, path } = notedProgram('present')
  const { reeve, agent } = await ruled(temp, { effect: 'allow', resource: 'shell:echo' })
  const said = async (request: Partial<Command>) => {
    const { spec, ...rest } = request
    const error = await agent
      .spawn({ kind: 'command', spec: { argv: ['echo'], ...spec } as Command['spec'], cwd: folder, ...rest })
      .then(() => 'accepted')
      .catch(({ code, message, remedy, details }) => JSON.stringify({ code, message, remedy, details }))
    return error.replaceAll('absent', 'present').replaceAll('ABSENT', 'PRESENT')
  }
  const secret = async (name: string) => {
    const variables = { A: { secret: name } }
    const { envRef } = await reeve.putEnvironment({ variables, policy: {}, options: {} })
    return said({ envRef })
  }
  expect(await secret('PRESENT_TOKEN')).toContain('"denied"')
  expect(await secret('PRESENT_TOKEN')).toBe(await secret('ABSENT_TOKEN'))
  expect(await said({ spec: { argv: [path] } })).toBe(
    await said({ spec: { argv: [join(folder, 'absent')] } }),
  )
  expect(await said({ spec: { argv: ['cat', path] } })).toBe(
    await said({ spec: { argv: ['cat', join(folder, 'absent')] } }),
  )
  expect(await said({ spec: { run: `echo x > ${path}` } })).toBe(
    await said({ spec: { run: `echo x > ${join(folder, 'absent')}` } }),
  )
  expect(await said({ spec: { argv: ['cat'] }, cwd: folder })).toBe(
    await said({ spec: { argv: ['cat'] }, cwd: join(folder, 'absent') }),
  )
})
