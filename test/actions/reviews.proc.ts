import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { TokenFile } from '../../src/daemon/token-file.ts'
import { newStores } from '../crash/new-stores.ts'
import { tempFolder } from '../temp-folder.ts'
import { TempReeve } from '../temp-reeve.ts'

/** A program that is called git and appends each of its calls to a file, outside of Reeve. */
function recordingGit() {
  const folder = tempFolder()
  const bin = join(folder, 'bin')
  const calls = join(folder, 'calls')
  mkdirSync(bin)
  writeFileSync(calls, '')
  writeFileSync(join(bin, 'git'), `#!/bin/sh\necho "git $*" >> ${calls}\n`)
  chmodSync(join(bin, 'git'), 0o755)
  return { folder, env: { PATH: `${bin}:/usr/bin:/bin` }, calls: () => readFileSync(calls, 'utf8') }
}

/** A daemon with a rule whose reviewer is a workflow of this program, which decides when it gets the signal `verdict`. */
async function reviewing(store: string | undefined) {
  const git = recordingGit()
  const temp = new TempReeve()
  const start = () =>
    temp.start(undefined, { ...git.env, ...(store === undefined ? {} : { REEVE_STORE: store }) })
  const daemon = await start()
  const { token } = new TokenFile(temp.home).create({ role: 'agent', session: 's1' })
  const host = await connect({ home: temp.home.folder })
  await host.workflow('check', async (ctx) => ctx.waitForSignal('verdict'))
  await host.addRule({ rule: { effect: 'ask', resource: 'shell:git push', reviewer: 'workflow:check' } })
  await host.openSession({ session: 's1' })
  const agent = await connect({ url: daemon.url ?? '', token })
  onTestFinished(async () => {
    await Promise.all([host.close(), agent.close()])
  })
  const { record } = await agent.spawn({
    kind: 'command',
    spec: { argv: ['git', 'push', 'origin'] },
    cwd: git.folder,
  })
  expect(record).toMatchObject({ status: 'waiting', wait: { on: 'approval' } })
  const { processes } = await host.list({ filter: { kind: ['workflow'] } })
  const [review = ''] = processes.map((one) => one.record.pid)
  expect(processes).toHaveLength(1)
  await host.waitFor({ pid: review, types: ['wait_entered'] })
  return { git, daemon, start, host, pid: record.pid, review }
}

const stores = { SQLite: async () => undefined, PostgreSQL: newStores.PostgreSQL }

test.each(Object.entries(stores))(
  'on %s, a reviewer survives kill -9 of the daemon, and the command that it approves runs once',
  async (_, open) => {
    const { git, daemon, start, host, pid, review } = await reviewing(await open())
    await daemon.kill()
    await start()
    expect(git.calls()).toBe('')
    await host.send({ pid: review, name: 'verdict', value: { decision: 'approve' } })
    expect(await host.wait({ pid })).toMatchObject({ record: { status: 'completed' } })
    expect(git.calls()).toBe('git push origin\n')
    const { approvals } = await host.approvals({ state: 'answered' })
    expect(approvals).toMatchObject([{ pid, answer: { type: 'approved', by: `process:${review}` } }])
    expect((await host.audit()).entries).toContainEqual(
      expect.objectContaining({ actor: `process:${review}`, action: 'review', decision: 'approved' }),
    )
  },
)

test('a reviewer that is unsure leaves the command to a person', async () => {
  const { git, host, pid, review } = await reviewing(undefined)
  await host.send({ pid: review, name: 'verdict', value: { decision: 'unsure' } })
  await host.wait({ pid: review })
  const { approvals } = await host.approvals({})
  expect(approvals).toMatchObject([{ pid, state: 'pending', request: { reviewer: null } }])
  expect(git.calls()).toBe('')
  await host.approve({ id: approvals[0]?.id ?? '' })
  expect(await host.wait({ pid })).toMatchObject({ record: { status: 'completed' } })
  expect(git.calls()).toBe('git push origin\n')
})

test('a person who denies first cancels the reviewer', async () => {
  const { git, host, pid, review } = await reviewing(undefined)
  const [{ id = '' } = {}] = (await host.approvals({})).approvals
  await host.deny({ id })
  expect(await host.wait({ pid: review })).toMatchObject({ record: { status: 'cancelled' } })
  expect(await host.wait({ pid })).toMatchObject({ record: { outcome: { reason: 'approval_denied' } } })
  expect(git.calls()).toBe('')
})
