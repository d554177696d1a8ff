import { MemoryTables, openMemory } from 'reeve/testing'
import { expect, test } from 'vitest'
import type { ResolvedAction } from '../../src/core/capability/action.ts'
import type { Rule } from '../../src/core/capability/rule.ts'
import { EMPTY_ENVIRONMENT } from '../../src/core/environment/environment.ts'
import { isRefusal } from '../../src/core/refusal.ts'
import { answerApproval } from '../../src/kernel/answer-approval.ts'
import { claimAndStart } from '../../src/kernel/claim.ts'
import { confirmAction } from '../../src/kernel/confirm-action.ts'
import type { Edges } from '../../src/kernel/edges.ts'
import { putEnvironment } from '../../src/kernel/environments.ts'
import type { Work } from '../../src/kernel/executor.ts'
import { addRule, clearRules } from '../../src/kernel/policies.ts'
import { register } from '../../src/kernel/register.ts'
import { openSession } from '../../src/kernel/sessions.ts'
import { type PolicyFileFound, Workspaces } from '../../src/kernel/workspaces.ts'
import { testEdges } from '../../src/testing/test-edges.ts'

const PUSH: ResolvedAction = {
  shell: { type: 'commands', commands: [{ program: 'git', args: ['push'], env: [] }], writes: [] },
  programs: [{ name: 'git', real: '/usr/bin/git', identity: '1' }],
  cwd: '/code',
  environmentHash: 'all variables',
  variables: {},
  env: [],
  codeVariables: [],
}

/** A command of a session with this rule. */
async function commandUnder(...rules: readonly Omit<Rule, 'id'>[]) {
  const edges = testEdges(await openMemory({ shared: new MemoryTables() }))
  return registeredIn(edges, 'session:s1', rules, { cwd: '/code' })
}

async function registeredIn(
  edges: Edges,
  subject: string,
  rules: readonly Omit<Rule, 'id'>[],
  place: { readonly cwd?: string },
) {
  const ref = await putEnvironment(edges, 'host', EMPTY_ENVIRONMENT)
  await openSession(edges, 'host', 's1', null)
  for (const rule of rules) await addRule(edges, 'host', subject, (id) => ({ ...rule, id }))
  const request = { kind: 'command', spec: { argv: ['git', 'push'] }, ...place } as const
  const registering = { request, actor: 'session:s1', here: ['host:h1'] } as const
  const registered = await register(edges, [registering], ref, async () => PUSH)
  if (isRefusal(registered) || registered[0]?.type !== 'registered') throw new Error('It was not registered')
  return { edges, record: registered[0].row.record }
}

/** A command that a person has approved for the host `h1`, and that a kernel is about to begin. */
async function approvedCommand() {
  const { edges, record } = await commandUnder({ ...GIT, effect: 'ask' })
  const answer = { type: 'approve', grant: 'once' } as const
  await answerApproval(edges, 'k1', { id: record.gate?.approval ?? '', by: 'human:ada', answer })
  return beginning(edges, record.pid)
}

const GIT = { rights: ['execute'], resource: 'shell:git' } as const

/** A command that a kernel is about to begin. */
async function beginning(edges: Edges, pid: string) {
  const [row] = await claimAndStart(edges, [pid], 'k1')
  if (row === undefined) throw new Error('It was not begun')
  const work: Work = {
    record: row.record,
    signal: new AbortController().signal,
    fence: () => ({ holder: 'k1', fence: row.fence }),
    onRequest: () => () => undefined,
    lendSlot: () => () => undefined,
  }
  const recordNow = async () => (await edges.store.ask({ ask: 'process', pid }))?.record
  const gateNow = async () => (await recordNow())?.gate?.state
  return { edges, work, gateNow, recordNow }
}

test('an approved command begins on the host that the person was asked about', async () => {
  const { edges, work, gateNow } = await approvedCommand()
  expect(await confirmAction(edges, work, PUSH, 'h1')).toBe(true)
  expect(await gateNow()).toBe('approved')
})

test.each([
  ['host', {}, 'h2'],
  ['environment', { environmentHash: 'other variables' }, 'h1'],
  ['folder', { cwd: '/elsewhere' }, 'h1'],
  ['program', { programs: [{ name: 'git', real: '/usr/bin/git', identity: '2' }] }, 'h1'],
] as const)('another %s is another action, and is asked about again', async (_what, change, host) => {
  const { edges, work, gateNow } = await approvedCommand()
  expect(await confirmAction(edges, work, { ...PUSH, ...change }, host)).toBe(false)
  expect(await gateNow()).toBe('pending')
})

async function allowedCommand(...more: readonly Omit<Rule, 'id'>[]) {
  const { edges, record } = await commandUnder({ ...GIT, effect: 'allow' }, ...more)
  expect(record).toMatchObject({ status: 'queued', gate: null })
  return beginning(edges, record.pid)
}

const OTHER_FILE: ResolvedAction = { ...PUSH, programs: [{ name: 'git', real: '/tmp/git', identity: '2' }] }

test('an allowed command whose program is the same file begins, also with other variables', async () => {
  const { edges, work, gateNow } = await allowedCommand()
  const same = { ...PUSH, environmentHash: 'other variables' }
  expect(await confirmAction(edges, work, same, 'h1')).toBe(true)
  expect(await gateNow()).toBeUndefined()
})

test.each([
  ['file', OTHER_FILE],
  ['content', { ...PUSH, programs: [{ name: 'git', real: '/usr/bin/git', identity: '2' }] }],
  ['folder', { ...PUSH, cwd: '/elsewhere' }],
])('an allowed command with another %s than the one that was allowed is asked about', async (_what, now) => {
  const { edges, work, recordNow } = await allowedCommand()
  expect(await confirmAction(edges, work, now, 'h1')).toBe(false)
  const record = await recordNow()
  expect(record).toMatchObject({ status: 'waiting', gate: { state: 'pending' }, attempts: 0 })
  const approval = await edges.store.ask({ ask: 'approval', id: record?.gate?.approval ?? '' })
  expect(approval?.request).toMatchObject({ rule: { id: 'r1' }, grants: ['once'], alwaysRule: null })
})

test('after a yes it begins as it was shown, and another change is asked about again', async () => {
  const { edges, work, recordNow } = await allowedCommand()
  await confirmAction(edges, work, OTHER_FILE, 'h1')
  const id = (await recordNow())?.gate?.approval ?? ''
  const answer = { type: 'approve', grant: 'once' } as const
  await answerApproval(edges, 'k1', { id, by: 'human:ada', answer })
  const again = await beginning(edges, work.record.pid)
  expect(await confirmAction(edges, again.work, OTHER_FILE, 'h1')).toBe(true)
  expect(await confirmAction(edges, again.work, PUSH, 'h1')).toBe(false)
})

test('a use of a counted rule is not taken twice by the second look, and a no gives it back', async () => {
  const { edges, record } = await commandUnder({ ...GIT, effect: 'allow', uses: 1 })
  const { work, recordNow } = await beginning(edges, record.pid)
  const used = async () => (await edges.store.ask({ ask: 'ruleUse', id: 'session:s1 r1' }))?.used
  expect(await used()).toBe(1)
  await confirmAction(edges, work, OTHER_FILE, 'h1')
  expect(await used()).toBe(1)
  const id = (await recordNow())?.gate?.approval ?? ''
  await answerApproval(edges, 'k1', { id, by: 'human:ada', answer: { type: 'deny' } })
  expect(await used()).toBe(0)
  expect((await recordNow())?.status).toBe('cancelled')
})

test('what no rule allowed begins with another file that no rule is about, and not with one that is denied', async () => {
  const { edges, record } = await commandUnder({ rights: ['execute'], resource: 'shell:rm', effect: 'deny' })
  const { work, gateNow } = await beginning(edges, record.pid)
  expect(await confirmAction(edges, work, OTHER_FILE, 'h1')).toBe(true)
  expect(await gateNow()).toBeUndefined()
  const programs = [{ name: 'git', real: '/usr/bin/rm', identity: '3' }]
  expect(await confirmAction(edges, work, { ...PUSH, programs }, 'h1')).toBe(false)
  expect(await gateNow()).toBe('pending')
})

test('a command begins if the rules that allowed it have been removed meanwhile', async () => {
  const { edges, work, gateNow } = await allowedCommand()
  await clearRules(edges, 'host', 'session:s1')
  expect(await confirmAction(edges, work, OTHER_FILE, 'h1')).toBe(true)
  expect(await gateNow()).toBeUndefined()
})

/** A machine where folders are links to others. */
async function machineWith(links: Map<string, string>, files: PolicyFileFound[] = []): Promise<Edges> {
  const look = async (folder: string) => ({ folder: links.get(folder) ?? folder, files: [...files] })
  const store = await openMemory({ shared: new MemoryTables() })
  return { ...testEdges(store), workspaces: new Workspaces({ look, broken: [] }) }
}

test.each([
  ['that of the daemon', '.', {}],
  ['behind a link', '/link', { cwd: '/link' }],
])('the rules of the folder bind a changed command where that folder is %s', async (_what, from, place) => {
  const edges = await machineWith(new Map([[from, '/code']]))
  const rules = [{ ...GIT, effect: 'allow' }] as const
  const { record } = await registeredIn(edges, 'workspace:/code', rules, place)
  const { work, gateNow } = await beginning(edges, record.pid)
  expect(await confirmAction(edges, work, PUSH, 'h1')).toBe(true)
  expect(await confirmAction(edges, work, OTHER_FILE, 'h1')).toBe(false)
  expect(await gateNow()).toBe('pending')
})

test('the rules of the folder that a link leads to now bind a command that begins there', async () => {
  const links = new Map([['/link', '/before']])
  const edges = await machineWith(links)
  const rules = [{ rights: ['execute'], resource: 'shell:rm', effect: 'deny' }] as const
  const { record } = await registeredIn(edges, 'session:s1', rules, { cwd: '/link' })
  const { work, gateNow } = await beginning(edges, record.pid)
  await addRule(edges, 'host', 'workspace:/code', (id) => ({ ...GIT, effect: 'ask', id }))
  expect(await confirmAction(edges, work, { ...PUSH, cwd: '/elsewhere' }, 'h1')).toBe(true)
  links.set('/link', '/code')
  expect(await confirmAction(edges, work, { ...PUSH, cwd: '/elsewhere' }, 'h1')).toBe(false)
  expect(await gateNow()).toBe('pending')
})

test('a yes to a changed command does not count if the folder that it begins in now denies it', async () => {
  const links = new Map([['/link', '/before']])
  const edges = await machineWith(links)
  const { record } = await registeredIn(edges, 'session:s1', [{ ...GIT, effect: 'ask' }], { cwd: '/link' })
  const yes = { by: 'human:ada', answer: { type: 'approve', grant: 'once' } } as const
  await answerApproval(edges, 'k1', { id: record.gate?.approval ?? '', ...yes })
  const { work, recordNow } = await beginning(edges, record.pid)
  await addRule(edges, 'host', 'workspace:/code', (id) => ({ ...GIT, effect: 'deny', id }))
  links.set('/link', '/code')
  expect(await confirmAction(edges, work, { ...PUSH, cwd: '/elsewhere' }, 'h1')).toBe(false)
  const id = (await recordNow())?.gate?.approval ?? ''
  expect(await answerApproval(edges, 'k1', { id, ...yes })).toMatchObject({ refusal: { code: 'denied' } })
})

test('a changed command does not begin below a policy file that cannot be read, and the audit has the denial', async () => {
  const files: PolicyFileFound[] = []
  const edges = await machineWith(new Map(), files)
  const { record } = await registeredIn(edges, 'session:s1', [{ ...GIT, effect: 'allow' }], { cwd: '/code' })
  const { work, gateNow } = await beginning(edges, record.pid)
  const problems = [{ line: 1, message: 'It is cut off.', remedy: 'Write the rest.' }]
  const path = '/code/.reeve/policy.json'
  files.push({ folder: '/code', path, hash: 'v1', since: 0, rules: [], problems })
  await expect(confirmAction(edges, work, OTHER_FILE, 'h1')).rejects.toMatchObject({ code: 'policy_invalid' })
  expect(await gateNow()).toBeUndefined()
  const { items } = await edges.store.ask({ ask: 'audit', after: null, limit: 100 })
  expect(JSON.parse(items.at(-1)?.text ?? '')).toMatchObject({
    decision: 'denied',
    target: path,
    reason: `${path}, line 1: It is cut off.`,
  })
  files.pop()
  expect(await confirmAction(edges, work, OTHER_FILE, 'h1')).toBe(false)
})

test('without rules about programs nothing is kept to compare', async () => {
  const { record } = await commandUnder()
  expect(record.ruledOn).toBeUndefined()
})
