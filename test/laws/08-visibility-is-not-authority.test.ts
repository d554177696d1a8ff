import { embed, type ReeveVerbs } from 'reeve'
import { expect, test } from 'vitest'
import { VERB_TABLE } from '../authority/verb-table.ts'
import { tempStore } from '../temp-folder.ts'

const OUTSIDE = { kind: 'external', spec: { description: 'x' } } as const

async function twoSessions() {
  const reeve = await embed({ store: tempStore() })
  await reeve.openSession({ session: 'mine' })
  await reeve.openSession({ session: 'yours' })
  const owner = { session: 'mine' }
  await reeve.addSchedule({
    schedule: 'theirs',
    times: { type: 'every', everyMs: 60_000 },
    process: { ...TOOL },
  })
  await reeve.addTrigger({ trigger: 'theirs', source: { type: 'webhook' }, process: { ...TOOL } })
  const eventTypes = { note: { schema: {} } }
  const { record } = await reeve.spawn({ ...OUTSIDE, owner, name: 'web', eventTypes, lifetime: 'daemon' })
  return { reeve, pid: record.pid, mine: reeve.as('session:mine'), yours: reeve.as('session:yours') }
}

const acts = (reeve: ReeveVerbs, pid: string): Record<string, () => Promise<unknown>> => ({
  'signal pause': () => reeve.signal({ pid, signal: 'pause' }),
  'signal cancel': () => reeve.signal({ pid, signal: 'cancel' }),
  'signal kill': () => reeve.signal({ pid, signal: 'kill' }),
  send: () => reeve.send({ pid, name: 'go' }),
  append: () => reeve.append({ events: [{ pid, type: 'note', payload: 1 }] }),
  end: () => reeve.end({ pid, status: 'completed', replayKey: 'e' }),
  abandon: () => reeve.abandon({ pid, reason: 'because' }),
  revokeTool: () => reeve.revokeTool({ pid, name: 'theirs' }),
  changeOwner: () => reeve.changeOwner({ pid, owner: { session: 'yours' } }),
  changeCwd: () => reeve.changeCwd({ pid, cwd: '/' }),
  setExternalRef: () => reeve.setExternalRef({ pid, ref: 1 }),
  grant: () => reeve.grant({ session: 'yours', pids: [pid] }),
  revoke: () => reeve.revoke({ session: 'mine', pids: [pid] }),
  'spawn below it': () => reeve.spawn({ ...OUTSIDE, parent: pid }),
  'spawn one’s own below it': () => reeve.spawn({ ...OUTSIDE, parent: pid, owner: { session: 'yours' } }),
  'spawn to wake its session': () =>
    reeve.spawn({ ...OUTSIDE, owner: { session: 'yours' }, wakeTarget: 'mine' }),
})

const TOOL = { kind: 'tool', spec: { tool: 'work' } } as const
const WORKER = `w_${'0'.repeat(24)}`

/** Acts of operators, and on what belongs to other sessions or to people. */
const otherActs = (reeve: ReeveVerbs, pid: string): Record<string, () => Promise<unknown>> => ({
  takeNotices: () => reeve.takeNotices({ scope: 'human:host', consumer: 'x' }),
  acknowledge: () => reeve.acknowledge({ scope: 'session:mine', consumer: 'x', through: 9 }),
  endSession: () => reeve.endSession({ session: 'mine' }),
  deleteSession: () => reeve.deleteSession({ session: 'mine' }),
  openTurn: () => reeve.openTurn({ session: 'mine', turn: 't' }),
  restart: () => reeve.restart({ pid }),
  write: () => reeve.write({ pid, text: 'x' }),
  submit: () => reeve.submit({ pid, text: 'x' }),
  closeInput: () => reeve.closeInput({ pid }),
  resize: () => reeve.resize({ pid, cols: 80, rows: 24 }),
  'signal SIGUSR1': () => reeve.signal({ pid, signal: 'SIGUSR1' }),
  charge: () => reeve.charge({ pid, amounts: { tokensIn: 1 } }),
  putObject: () => reeve.putObject({ pid, name: 'plan', type: 'plan', text: 'x' }),
  linkObject: () => reeve.linkObject({ pid, name: 'plan', to: pid }),
  releaseObject: () => reeve.releaseObject({ pid, name: 'plan' }),
  mergeObjects: () => reeve.mergeObjects({ pid, from: pid }),
  sendMessage: () => reeve.sendMessage({ to: `process:${pid}`, value: 'x' }),
  spawnAgent: () => reeve.spawnAgent({ parent: pid, goal: 'x' }),
  spawnAgents: () => reeve.spawnAgents({ parent: pid, agents: [{ goal: 'x' }] }),
  restoreAgent: () => reeve.restoreAgent({ pid }),
  forkAgent: () => reeve.forkAgent({ pid, goal: 'x' }),
  runAgent: () => reeve.runAgent({ pid, text: 'x' }),
  'runAgent with an image': () =>
    reeve.runAgent({ pid, parts: [{ type: 'image', mediaType: 'image/png', data: 'AAAA' }] }),
  allowAgent: () => reeve.allowAgent({ pid, amounts: { tokensIn: 1 } }),
  kill: () => reeve.kill({ pid }),
  spawnMany: () => reeve.spawnMany({ processes: [{ ...OUTSIDE, owner: { session: 'mine' } }] }),
  transferGrants: () => reeve.transferGrants({ from: 'mine', to: 'yours', pids: [pid] }),
  touchSession: () => reeve.touchSession({ session: 'mine' }),
  endTurn: () => reeve.endTurn({ session: 'mine', turn: 't' }),
  openSession: () => reeve.openSession({ session: 'new' }),
  resumeAgent: () => reeve.resumeAgent({ pid }),
  claimWork: () => reeve.claimWork({ worker: WORKER }),
  doWork: () => reeve.doWork({ worker: WORKER, pid, fence: 1, act: { type: 'release' } }),
  retireWorker: () => reeve.retireWorker({ worker: WORKER }),
  pruneAudit: () => reeve.pruneAudit({ keep: 0 }),
  prune: () => reeve.prune({ keep: 0 }),
  recover: () => reeve.recover({}),
  removeHolder: () => reeve.removeHolder({ id: 'x' }),
  refreshEnvironment: () => reeve.refreshEnvironment({}),
  putEnvironment: () =>
    reeve.putEnvironment({ variables: { KEY: { secret: 'KEY' } }, policy: {}, options: {} }),
  track: () => reeve.track({ osPid: process.pid }),
  addSchedule: () =>
    reeve.addSchedule({ schedule: 'theirs', times: { type: 'every', everyMs: 60_000 }, process: TOOL }),
  editSchedule: () => reeve.editSchedule({ schedule: 'theirs', overlap: 'allow' }),
  pauseSchedule: () => reeve.pauseSchedule({ schedule: 'theirs' }),
  resumeSchedule: () => reeve.resumeSchedule({ schedule: 'theirs' }),
  runSchedule: () => reeve.runSchedule({ schedule: 'theirs' }),
  backfillSchedule: () => reeve.backfillSchedule({ schedule: 'theirs', from: 0, until: 1 }),
  removeSchedule: () => reeve.removeSchedule({ schedule: 'theirs' }),
  addTrigger: () => reeve.addTrigger({ trigger: 'theirs', source: { type: 'webhook' }, process: TOOL }),
  editTrigger: () => reeve.editTrigger({ trigger: 'theirs', overlap: 'allow' }),
  pauseTrigger: () => reeve.pauseTrigger({ trigger: 'theirs' }),
  resumeTrigger: () => reeve.resumeTrigger({ trigger: 'theirs' }),
  runTrigger: () => reeve.runTrigger({ trigger: 'theirs' }),
  removeTrigger: () => reeve.removeTrigger({ trigger: 'theirs' }),
  announceWorker: () => reeve.announceWorker({ worker: WORKER, workflows: [], tools: [] }),
  registerImage: () => reeve.registerImage({ image: { name: 'fixer' } }),
  removeImage: () => reeve.removeImage({ name: 'fixer' }),
})

/** The acts are only named. */
const NO_REEVE = {} as ReeveVerbs

/**
 * One-shot keys carry their own authority, questions are the asker's own, and the others change nothing or act on what
 * the actor owns of a scope.
 */
const UNOWNED = ['answer', 'ask', 'completeInput', 'explainRules', 'interrupt', 'killAll']
/** The same intent as that of `runAgent`. */
const METHODS = ['reorderInputs', 'removeInput', 'editInput', 'configureAgent', 'shutDownAgent']
const MORE_METHODS = ['compactAgent', 'rewindAgent', 'notifyAgent', 'pauseAgent', 'cancelTurn']
/** They need a git worktree: `agent/worktrees.proc.ts` denies them to others. */
const WORKTREES = ['mergeWorktree', 'removeWorktree']
/** It needs a handle: the conformance suite denies it to others. */
const HANDLES = ['revokeObject']

const looks = (reeve: ReeveVerbs, pid: string): Record<string, () => Promise<unknown>> => ({
  show: () => reeve.show({ pid }),
  events: () => reeve.events({ pid }),
  wait: () => reeve.wait({ pid, timeoutMs: 0 }),
  waitFor: () => reeve.waitFor({ pid, types: ['registered'] }),
})

test('knowing a pid, or being shown the process, allows no act on it', async () => {
  const { reeve, pid, yours } = await twoSessions()
  const before = await reeve.events({ pid })
  for (const granted of [false, true]) {
    if (granted) await reeve.grant({ session: 'yours', pids: [pid] })
    for (const [name, act] of Object.entries(acts(yours, pid)))
      await expect(act(), `${name}, granted: ${granted}`).rejects.toMatchObject({ code: 'denied' })
  }
  expect(await reeve.events({ pid })).toEqual(before)
  await reeve.close()
})

test('every denied act is in the audit, and no denied look is', async () => {
  const { reeve, pid, yours } = await twoSessions()
  const all = { ...acts(yours, pid), ...otherActs(yours, pid) }
  const silent: string[] = []
  const total = async () =>
    (await reeve.audit({ actor: 'session:yours', decision: 'denied', limit: 1_000 })).entries.length
  for (const [name, act] of Object.entries(all)) {
    const before = await total()
    await expect(act(), name).rejects.toMatchObject({ code: 'denied' })
    if ((await total()) === before) silent.push(name)
  }
  // Equal to one before it: the same actor, action and target.
  expect(silent).toEqual([
    'signal kill',
    'spawn one’s own below it',
    'runAgent with an image',
    'kill',
    'resumeAgent',
  ])
  const before = await total()
  for (const look of Object.values(looks(yours, pid)))
    await expect(look()).rejects.toMatchObject({ code: 'denied' })
  expect(await total()).toBe(before)
  await reeve.close()
})

test('every verb that changes something is among the acts, or denies nobody by ownership', () => {
  const tried = new Set(
    Object.keys({ ...acts(NO_REEVE, ''), ...otherActs(NO_REEVE, '') }).map((name) => name.split(' ')[0]),
  )
  const changing = Object.entries(VERB_TABLE).filter(([, does]) => does === 'none')
  expect(
    changing
      .map(([name]) => name)
      .filter((name) => !tried.has(name))
      .sort(),
  ).toEqual([...UNOWNED, ...METHODS, ...MORE_METHODS, ...WORKTREES, ...HANDLES].sort())
})

test('a process is not seen by a session that neither owns it nor was granted it', async () => {
  const { reeve, pid, mine, yours } = await twoSessions()
  for (const [name, look] of Object.entries(looks(yours, pid)))
    await expect(look(), name).rejects.toMatchObject({ code: 'denied' })
  for (const text of ['web', pid.slice(0, 8)])
    await expect(yours.show({ pid: text }), text).rejects.toMatchObject({ code: 'unknown_pid' })
  expect((await yours.list({})).processes).toEqual([])
  expect((await yours.changes({})).events).toEqual([])
  for (const [name, look] of Object.entries(looks(mine, pid)))
    await expect(look(), name).resolves.toBeDefined()
  expect((await mine.list({})).processes.map(({ shared }) => shared)).toEqual([false])
  await reeve.close()
})

test('a process that is shown to a session shows it none of its objects', async () => {
  const { reeve, pid, yours, mine } = await twoSessions()
  await reeve.putObject({ pid, name: 'plan', type: 'plan', text: 'x' })
  for (const granted of [false, true]) {
    if (granted) await reeve.grant({ session: 'yours', pids: [pid] })
    await expect(yours.objects({ pid })).rejects.toMatchObject({ code: 'denied' })
    await expect(yours.object({ pid, name: 'plan' })).rejects.toMatchObject({ code: 'denied' })
  }
  expect((await mine.objects({ pid })).objects.map(({ name }) => name)).toEqual(['plan'])
  await reeve.close()
})

test('a grant shows a process, marked as shared, until it is taken back', async () => {
  const { reeve, pid, yours } = await twoSessions()
  await reeve.grant({ session: 'yours', pids: ['web'], descriptor: { why: 'look here' } })
  for (const [name, look] of Object.entries(looks(yours, pid)))
    await expect(look(), name).resolves.toBeDefined()
  expect((await yours.list({})).processes.map(({ shared }) => shared)).toEqual([true])
  expect((await yours.changes({})).events.map(({ type }) => type)).toEqual(['registered'])
  await reeve.revoke({ session: 'yours', pids: [pid] })
  await expect(yours.show({ pid })).rejects.toMatchObject({ code: 'denied' })
  expect((await yours.list({})).processes).toEqual([])
  await reeve.close()
})

test('another session’s inbox, grants and sessions are not read', async () => {
  const { reeve, yours } = await twoSessions()
  const reads = [
    () => yours.notices({ scope: 'session:mine' }),
    () => yours.notices({ scope: 'human:host' }),
    () => yours.takeNotices({ scope: 'human:host', consumer: 'x' }),
    () => yours.acknowledge({ scope: 'human:host', consumer: 'x', through: 9 }),
    () => yours.grants({ session: 'mine' }),
    () => yours.liveCount({ session: 'mine' }),
    () => yours.liveCount({}),
    () => yours.sessions({}),
    () => yours.recover({}),
  ]
  for (const read of reads) await expect(read()).rejects.toMatchObject({ code: 'denied' })
  await reeve.close()
})

test('a process may write itself and its children, not its siblings or its parent', async () => {
  const reeve = await embed({ store: tempStore() })
  const spawn = async (parent?: string) =>
    (await reeve.spawn({ ...OUTSIDE, ...(parent === undefined ? {} : { parent }) })).record.pid
  const parent = await spawn()
  const self = await spawn(parent)
  const child = await spawn(self)
  const sibling = await spawn(parent)
  const as = reeve.as(`process:${self}`)
  for (const pid of [self, child]) await as.changeCwd({ pid, cwd: '/tmp' })
  for (const pid of [parent, sibling])
    await expect(as.changeCwd({ pid, cwd: '/tmp' })).rejects.toMatchObject({ code: 'denied' })
  await reeve.close()
})

test('a handle that acts for one actor gives no access to another', async () => {
  const { reeve, yours } = await twoSessions()
  expect(Object.keys(yours)).not.toContain('as')
  expect(Object.keys(yours)).not.toContain('close')
  expect(() => reeve.as('nonsense' as 'host')).toThrow(/must be host/)
  await reeve.close()
})

test('groups of two sessions are two groups, even with equal names', async () => {
  const { reeve, mine, yours } = await twoSessions()
  const group = { id: 'g', size: 1 }
  const [one, two] = [await mine.spawn({ ...OUTSIDE, group }), await yours.spawn({ ...OUTSIDE, group })]
  await reeve.end({ pid: one.record.pid, status: 'completed', replayKey: 'e' })
  await reeve.end({ pid: two.record.pid, status: 'completed', replayKey: 'e' })
  for (const scope of ['session:mine', 'session:yours'])
    expect((await reeve.notices({ scope })).notices.map(({ kind }) => kind)).toEqual(['group_completion'])
  await reeve.close()
})
