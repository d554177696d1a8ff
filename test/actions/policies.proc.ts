import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type Reeve } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { TokenFile } from '../../src/daemon/token-file.ts'
import { tempFolder } from '../temp-folder.ts'
import { TempReeve } from '../temp-reeve.ts'

/** A folder with a policy file. */
function workspace(policy: object | string) {
  const folder = tempFolder()
  mkdirSync(join(folder, '.reeve'))
  mkdirSync(join(folder, 'sub'))
  const path = join(folder, '.reeve', 'policy.json')
  const write = (next: object | string) =>
    writeFileSync(path, typeof next === 'string' ? next : JSON.stringify(next, null, 2))
  write(policy)
  return { folder, sub: join(folder, 'sub'), path, write, remove: () => rmSync(path) }
}

/** A daemon with a person and an agent, whose session works in a folder. */
async function working(folder?: string) {
  const temp = new TempReeve()
  const daemon = await temp.start()
  const { token } = new TokenFile(temp.home).create({ role: 'agent', session: 's1' })
  const host = await connect({ home: temp.home.folder })
  await host.openSession({ session: 's1', ...(folder === undefined ? {} : { workspace: folder }) })
  const agent = await connect({ url: daemon.url ?? '', token })
  onTestFinished(async () => {
    await Promise.all([host.close(), agent.close()])
  })
  // The socket is the same after a restart, the port is not.
  return { temp, daemon, host, agent, session: host.as('session:s1') }
}

const DENY_RM = { rules: [{ effect: 'deny', resource: 'shell:touch', justification: 'no new files' }] }

function runs(reeve: Pick<Reeve, 'spawn'>, argv: readonly string[], cwd: string) {
  return reeve.spawn({ kind: 'command', spec: { argv: [...argv] }, cwd })
}

test('denies of a policy file bind commands in its folder and below, and the person stays free', async () => {
  const { folder, sub } = workspace(DENY_RM)
  const { host, agent } = await working()
  for (const cwd of [folder, sub])
    await expect(runs(agent, ['touch', 'x'], cwd)).rejects.toMatchObject({
      code: 'denied',
      message: expect.stringContaining('no new files'),
    })
  const elsewhere = await runs(agent, ['touch', 'x'], tempFolder())
  expect(elsewhere.record.status).not.toBe('waiting')
  const own = await runs(host, ['touch', 'x'], folder)
  expect(await host.wait({ pid: own.record.pid })).toMatchObject({ record: { status: 'completed' } })
})

test('an agent escapes the rules of its workspace neither by another folder, nor by a link, nor by a file in between', async () => {
  const { folder, sub } = workspace(DENY_RM)
  const { agent } = await working(folder)
  const other = tempFolder()
  await expect(runs(agent, ['touch', 'x'], other)).rejects.toMatchObject({ code: 'denied' })
  const link = join(other, 'link')
  symlinkSync(sub, link)
  const { agent: another } = await working()
  await expect(runs(another, ['touch', 'x'], link)).rejects.toMatchObject({ code: 'denied' })
  mkdirSync(join(sub, '.reeve'))
  writeFileSync(join(sub, '.reeve', 'policy.json'), '{}')
  await expect(runs(another, ['touch', 'x'], sub)).rejects.toMatchObject({ code: 'denied' })
})

test('what a file allows is inert until a person trusts that very content, also over kill -9', async () => {
  const { folder, write } = workspace({ rules: [{ effect: 'allow', resource: 'shell:true' }] })
  const { temp, daemon, host, session } = await working(folder)
  await runs(session, ['echo'], folder)
  const seen = await host.policyFile({ folder })
  expect(seen).toMatchObject({ state: 'untrusted', activates: ['allow  execute shell:true'] })
  await expect(host.trustPolicy({ folder, hash: 'another' })).rejects.toMatchObject({ code: 'conflict' })
  expect(await host.trustPolicy({ folder, hash: seen.hash })).toMatchObject({ state: 'trusted' })
  // Trusted, it closes the workspace.
  await expect(runs(session, ['echo'], folder)).rejects.toMatchObject({ code: 'denied' })
  await daemon.kill()
  await temp.start()
  await expect(runs(session, ['echo'], folder)).rejects.toMatchObject({ code: 'denied' })
  await runs(session, ['true'], folder)
  write({ rules: [{ effect: 'allow', resource: 'shell:echo' }] })
  // The agent can write the file: a changed one allows nothing, and opens nothing.
  await expect(runs(session, ['echo'], folder)).rejects.toMatchObject({ code: 'denied' })
  await runs(session, ['true'], folder)
  expect((await host.policies()).files).toMatchObject([
    { state: 'untrusted', kept: ['allow  execute shell:true'] },
  ])
  const { hash } = await host.policyFile({ folder })
  await host.trustPolicy({ folder, hash })
  await runs(session, ['echo'], folder)
  await expect(runs(session, ['true'], folder)).rejects.toMatchObject({ code: 'denied' })
  const { entries } = await host.audit({ limit: 100 })
  expect(
    entries.flatMap((entry) =>
      entry.type === 'entry' && entry.action === 'trustPolicy' ? [entry.decision] : [],
    ),
  ).toEqual(['granted', 'granted'])
})

test('a removed file still counts, until a person forgets it', async () => {
  const { folder, remove } = workspace(DENY_RM)
  const { temp, daemon, host, session } = await working(folder)
  await expect(runs(session, ['touch', 'x'], folder)).rejects.toMatchObject({ code: 'denied' })
  remove()
  await expect(runs(session, ['touch', 'x'], folder)).rejects.toMatchObject({ code: 'denied' })
  await daemon.kill()
  await temp.start()
  await expect(runs(session, ['touch', 'x'], folder)).rejects.toMatchObject({ code: 'denied' })
  expect((await host.policies()).files).toMatchObject([{ state: 'missing', hash: null }])
  expect(await host.forgetPolicy({ folder })).toMatchObject({ removed: 1 })
  await runs(session, ['touch', 'x'], folder)
  await expect(host.forgetPolicy({ folder })).rejects.toMatchObject({ code: 'not_found' })
})

test('a broken file is reported with its line, and its last good version counts, also over kill -9', async () => {
  const { folder, write, path } = workspace(DENY_RM)
  const { temp, daemon, host, session } = await working(folder)
  await expect(runs(session, ['touch', 'x'], folder)).rejects.toMatchObject({ code: 'denied' })
  write('{\n  "rules": [\n    { "effect": "deny", "resource": "shell:touch" }\n    {}\n  ]\n}')
  await daemon.kill()
  await temp.start()
  await expect(runs(session, ['touch', 'x'], folder)).rejects.toMatchObject({ code: 'denied' })
  await runs(session, ['true'], folder)
  const { troubles } = await host.status()
  expect(troubles).toMatchObject([
    { code: 'policy_invalid', message: expect.stringContaining(`${path}, line 4: It needs a comma`) },
  ])
  expect((await host.policies()).files).toMatchObject([{ state: 'invalid', problems: [{ line: 4 }] }])
  write(DENY_RM)
  expect((await host.status()).troubles).toEqual([])
})

test('with a broken file and no good version of it, nothing of an agent starts there', async () => {
  const { folder, write, path } = workspace('{ "rules": [{ "effect": "deny" }] }')
  const { host, agent } = await working()
  await expect(runs(agent, ['true'], folder)).rejects.toMatchObject({
    code: 'policy_invalid',
    message: `${path}, line 1: A rule needs resource.`,
    details: { path, line: 1 },
  })
  expect((await host.list({ filter: { status: 'any' } })).processes).toEqual([])
  await expect(host.trustPolicy({ folder, hash: 'x' })).rejects.toMatchObject({ code: 'policy_invalid' })
  write('{}')
  await runs(agent, ['true'], folder)
})

test('rules of a folder that a person gives bind there, and relative paths begin in it', async () => {
  const { host, agent } = await working()
  const folder = tempFolder()
  await host.addRule({
    to: { type: 'workspace', folder },
    rule: { effect: 'deny', resource: 'fs:secret/**', rights: ['write'] },
  })
  mkdirSync(join(folder, 'secret'))
  const write = (run: string, cwd: string) => agent.spawn({ kind: 'command', spec: { run }, cwd })
  await expect(write('echo x > secret/a', folder)).rejects.toMatchObject({ code: 'denied' })
  await expect(write('echo x > a', join(folder, 'secret'))).rejects.toMatchObject({ code: 'denied' })
  await write('echo x > other', folder)
  expect(await host.clearRules({ from: { type: 'workspace', folder } })).toMatchObject({ removed: 1 })
  await write('echo x > secret/a', folder)
})

test('a preset of a session closes it, is replaced and removed, and a wrong name changes nothing', async () => {
  const { host, agent } = await working()
  const folder = tempFolder()
  const to = { type: 'session', session: 's1' } as const
  await expect(host.setPreset({ to, preset: 'obsreve' })).rejects.toMatchObject({
    code: 'invalid_rule',
    message: expect.stringContaining('Did you mean observe'),
  })
  const { rules } = await host.policies()
  await expect(host.setPreset({ to, preset: 'sandboxed' })).rejects.toMatchObject({ code: 'not_available' })
  expect((await host.policies()).rules).toEqual(rules)
  await host.setPreset({ to, preset: 'observe' })
  await expect(runs(agent, ['true'], folder)).rejects.toMatchObject({ code: 'denied' })
  await host.setPreset({ to, preset: 'ask' })
  expect((await runs(agent, ['true'], folder)).record.status).toBe('waiting')
  await host.setPreset({ to, preset: 'full' })
  await runs(agent, ['true'], folder)
  await host.setPreset({ to, preset: null })
  expect((await host.policies()).rules.filter(({ subject }) => subject === 'session:s1')).toEqual([])
  await runs(agent, ['true'], folder)
})

test('an explanation names the rule that decides, all that match, and starts nothing', async () => {
  const { folder } = workspace({ rules: [{ effect: 'deny', resource: 'shell:touch' }] })
  const { host } = await working()
  await host.addRule({ rule: { effect: 'ask', resource: 'shell:git push', justification: 'reviewed' } })
  const explain = (run: string, cwd = folder) => host.explainRules({ what: { type: 'run', run }, cwd })
  expect(await explain('git -C . push && ls')).toMatchObject({
    ruling: { type: 'ask', rule: { subject: 'home', id: 'r1' }, reason: 'reviewed' },
    needs: [
      { text: 'execute shell:git push', ruling: { type: 'ask' }, rules: [{ subject: 'home', match: 'yes' }] },
      { text: 'execute shell:ls', ruling: { type: 'allow' }, rules: [] },
    ],
  })
  expect(await explain('touch x')).toMatchObject({
    ruling: { type: 'deny', rule: { id: expect.stringMatching(/^f-/) } },
  })
  expect(await explain('touch x', tempFolder())).toMatchObject({ ruling: { type: 'allow', rule: null } })
  expect(
    await host.explainRules({ what: { type: 'resource', resource: 'tool:deploy' }, cwd: folder }),
  ).toMatchObject({ ruling: { type: 'allow' }, needs: [{ text: 'execute tool:deploy' }] })
  await expect(host.explainRules({ what: { type: 'resource', resource: 'nothing' } })).rejects.toMatchObject({
    code: 'invalid_input',
  })
  expect((await host.list({ filter: { status: 'any' } })).processes).toEqual([])
})

test('an agent neither reads nor changes policies, but passes on what it holds', async () => {
  const { folder } = workspace(DENY_RM)
  const { host, agent } = await working(folder)
  for (const call of [
    () => agent.policyFile({ folder }),
    () => agent.trustPolicy({ folder, hash: 'x' }),
    () => agent.forgetPolicy({ folder }),
    () => agent.setPreset({ preset: 'full' }),
    () => agent.clearRules({}),
    () => agent.explainRules({ what: { type: 'run', run: 'ls' } }),
  ])
    await expect(call()).rejects.toMatchObject({ code: 'forbidden' })
  await host.addRule({
    to: { type: 'session', session: 's1' },
    rule: { effect: 'allow', resource: 'shell:sh', delegable: { depth: 1 } },
  })
  const { record } = await agent.spawn({ kind: 'command', spec: { argv: ['sleep', '300'] }, cwd: folder })
  const to = { type: 'process', pid: record.pid } as const
  const passed = await agent.delegateRule({ to, rule: { effect: 'allow', resource: 'shell:ls' } })
  expect(passed).toMatchObject({ subject: `process:${record.pid}`, id: 'r1' })
  await expect(
    agent.delegateRule({ to, rule: { effect: 'allow', resource: 'tool:x' } }),
  ).rejects.toMatchObject({ code: 'denied' })
  expect(await agent.revokeDelegated({ to, id: 'r1' })).toMatchObject({ id: 'r1' })
  await expect(agent.revokeDelegated({ to, id: 'r1' })).rejects.toMatchObject({ code: 'not_found' })
  await host.kill({ pid: record.pid })
})
