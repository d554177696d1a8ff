import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { TokenFile } from '../../src/daemon/token-file.ts'
import { tempFolder } from '../temp-folder.ts'
import { TempReeve } from '../temp-reeve.ts'

/** A program that is called git and appends each of its calls to a file, outside of Reeve. */
function recordingGit() {
  const folder = tempFolder()
  const bin = join(folder, 'bin')
  const calls = join(folder, 'calls')
  mkdirSync(bin)
  writeFileSync(calls, '')
  const git = join(bin, 'git')
  writeFileSync(git, `#!/bin/sh\necho "git $*" >> ${calls}\n`)
  chmodSync(git, 0o755)
  return { folder, git, env: { PATH: `${bin}:/usr/bin:/bin` }, calls: () => readFileSync(calls, 'utf8') }
}

/** A daemon with a rule, its host, and an agent with a session. */
async function asking(rule: object = { effect: 'ask', resource: 'shell:git push' }) {
  const git = recordingGit()
  const temp = new TempReeve()
  const daemon = await temp.start(undefined, git.env)
  const { token } = new TokenFile(temp.home).create({ role: 'agent', session: 's1' })
  const host = await connect({ home: temp.home.folder })
  await host.addRule({ rule: { ...rule, justification: 'pushes are reviewed' } })
  await host.openSession({ session: 's1' })
  const agent = await connect({ url: daemon.url ?? '', token })
  onTestFinished(async () => {
    await Promise.all([host.close(), agent.close()])
  })
  return { git, temp, daemon, host, agent }
}

const push = (cwd: string) => ({
  kind: 'command' as const,
  spec: { argv: ['git', 'push', 'origin'] },
  cwd,
})

test('a command that a rule asks about waits over kill -9 of the daemon, and runs exactly once when a person approves', async () => {
  const { git, temp, daemon, host, agent } = await asking()
  const { record } = await agent.spawn(push(git.folder))
  expect(record).toMatchObject({ status: 'waiting', wait: { on: 'approval' } })
  await daemon.kill()
  await temp.start(undefined, git.env)
  const { approvals } = await host.approvals({})
  expect(approvals).toMatchObject([
    {
      pid: record.pid,
      request: { needs: ['execute shell:git push origin'], justification: 'pushes are reviewed' },
    },
  ])
  expect(git.calls()).toBe('')
  const [{ id = '' } = {}] = approvals
  expect(await host.approve({ id })).toMatchObject({ type: 'settled', approval: { state: 'answered' } })
  expect(await host.wait({ pid: record.pid })).toMatchObject({ record: { status: 'completed' } })
  expect(await host.deny({ id })).toMatchObject({ type: 'settled_before' })
  expect(git.calls()).toBe('git push origin\n')
})

test('a denied command never runs, and its asker reads the advice', async () => {
  const { git, host, agent } = await asking()
  const { record } = await agent.spawn(push(git.folder))
  const [{ id = '' } = {}] = (await host.approvals({})).approvals
  await host.deny({ id, advice: 'Open a pull request.' })
  expect(await host.wait({ pid: record.pid })).toMatchObject({
    record: {
      outcome: { status: 'cancelled', reason: 'approval_denied', result: { advice: 'Open a pull request.' } },
    },
  })
  expect(git.calls()).toBe('')
})

test('other commands, and the commands of the host, run as before', async () => {
  const { git, host, agent } = await asking()
  for (const spec of [{ argv: ['git', 'status'] }, { run: 'git status && git log | cat' }]) {
    const { record } = await agent.spawn({ kind: 'command', spec, cwd: git.folder })
    expect(await host.wait({ pid: record.pid })).toMatchObject({ record: { status: 'completed' } })
  }
  const own = await host.spawn(push(git.folder))
  expect(await host.wait({ pid: own.record.pid })).toMatchObject({ record: { status: 'completed' } })
})

test.each([
  ['a path', { argv: ['/usr/bin/env', 'git', 'push'] }],
  ['a shell', { argv: ['sh', '-c', 'git push'] }],
  ['a substitution', { run: 'echo $(git push)' }],
  ['a global option', { argv: ['git', '--no-pager', 'push'] }],
  ['eval', { run: 'eval "git pu""sh"' }],
])('%s does not get past the rule', async (_, spec) => {
  const { git, agent } = await asking()
  const { record } = await agent.spawn({ kind: 'command', spec, cwd: git.folder })
  expect(record.status).toBe('waiting')
})

test('a program that was changed after the approval was asked for is asked about again', async () => {
  const { git, host, agent } = await asking()
  const { record } = await agent.spawn(push(git.folder))
  const [{ id = '' } = {}] = (await host.approvals({})).approvals
  writeFileSync(git.git, '#!/bin/sh\necho changed\n')
  await host.approve({ id })
  await expect
    .poll(async () => (await host.approvals({})).approvals.map((approval) => approval.pid))
    .toEqual([record.pid])
  const { entries } = await host.audit({})
  expect(entries).toContainEqual(expect.objectContaining({ action: 'ask_again', decision: 'asked' }))
  const [again] = (await host.approvals({})).approvals
  expect(again?.id).not.toBe(id)
  expect(await host.show({ pid: record.pid })).toMatchObject({ status: 'waiting' })
})

test('a session neither approves its own request nor changes rules', async () => {
  const { git, agent } = await asking()
  await agent.spawn(push(git.folder))
  const [{ id = '' } = {}] = (await agent.approvals({})).approvals
  await expect(agent.approve({ id })).rejects.toMatchObject({ code: 'denied' })
  await expect(agent.addRule({ rule: { effect: 'allow', resource: 'shell:**' } })).rejects.toMatchObject({
    code: 'forbidden',
  })
  await expect(agent.removeRule({ id: 'r1' })).rejects.toMatchObject({ code: 'forbidden' })
})

test('a deny refuses the command before it is registered', async () => {
  const { git, host, agent } = await asking({ effect: 'deny', resource: 'shell:git push' })
  await expect(agent.spawn(push(git.folder))).rejects.toMatchObject({
    code: 'denied',
    message: expect.stringContaining('pushes are reviewed'),
  })
  expect((await host.list({ filter: { status: 'any' } })).processes).toEqual([])
})

test('rules are listed and removed, and a wrong one is refused', async () => {
  const { git, host, agent } = await asking()
  const ofHome = async () => (await host.policies({})).rules.filter(({ subject }) => subject === 'home')
  expect(await ofHome()).toMatchObject([
    { id: 'r1', text: expect.stringContaining('ask  execute shell:git push') },
  ])
  const wrong = { effect: 'ask', resource: 'shell:git push', match: ['git status'] }
  await expect(host.addRule({ rule: wrong })).rejects.toMatchObject({ code: 'invalid_rule' })
  await host.removeRule({ id: 'r1' })
  expect(await ofHome()).toEqual([])
  const { record } = await agent.spawn(push(git.folder))
  expect(await host.wait({ pid: record.pid })).toMatchObject({ record: { status: 'completed' } })
})
