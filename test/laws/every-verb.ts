import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Reeve } from 'reeve'
import { ended, printed, start } from '../command/commands.ts'
import { until } from '../keeper/client.ts'

const OUTSIDE = { kind: 'external', spec: { description: 'x' } } as const
const WORKER = `w_${'0'.repeat(24)}`

/** Calls each verb at least once with something to do. Needs a Reeve with commands. */
export async function callEveryVerb(reeve: Reeve): Promise<void> {
  await callSessions(reeve)
  await callExternals(reeve)
  await callTracked(reeve)
  await callCommands(reeve)
  await callTerminals(reeve)
  await callWorkers(reeve)
  await callApprovals(reeve)
  await callInbox(reeve)
  await callAgents(reeve)
  await callSchedules(reeve)
  await callTriggers(reeve)
  await callReads(reeve)
  await callStops(reeve)
}

async function callSessions(reeve: Reeve): Promise<void> {
  for (const session of ['s1', 's2', 's3']) await reeve.openSession({ session })
  await reeve.touchSession({ session: 's1' })
  await reeve.openTurn({ session: 's1', turn: 't1' })
  const inTurn = { owner: { session: 's1', turn: 't1' }, lifetime: 'turn' } as const
  await reeve.spawn({ ...OUTSIDE, ...inTurn })
  await reeve.endTurn({ session: 's1', turn: 't1' })
  const { record } = await reeve.spawn({ ...OUTSIDE, owner: { session: 's3' }, lifetime: 'session' })
  const pids = [record.pid]
  await reeve.grant({ session: 's1', pids })
  await reeve.transferGrants({ from: 's1', to: 's2', pids })
  await reeve.grants({ session: 's2' })
  await reeve.revoke({ session: 's2', pids })
  await reeve.spawn({ ...OUTSIDE, wakeTarget: 's3', owner: { session: 's1' } })
  await reeve.endSession({ session: 's3' })
  await reeve.deleteSession({ session: 's3' })
  await reeve.sessions()
  await reeve.audit()
  await reeve.verifyAudit()
  await reeve.pruneAudit({ keep: 0 })
}

export async function callSchedules(reeve: Reeve): Promise<void> {
  const process = { kind: 'workflow', spec: { workflow: 'nightly' } } as const
  const [schedule, from] = ['nightly', Date.now()]
  await reeve.addSchedule({
    schedule,
    process,
    times: { type: 'cron', cron: '0 2 * * *', zone: 'Europe/Berlin', start: from - 10 * 86_400_000 },
    overlap: 'queue',
  })
  await reeve.editSchedule({ schedule, pauseOnFailure: true })
  await reeve.runSchedule({ schedule })
  await reeve.backfillSchedule({ schedule, from: from - 2 * 86_400_000, until: from })
  await reeve.pauseSchedule({ schedule, note: 'holidays' })
  await reeve.resumeSchedule({ schedule })
  await reeve.schedule({ schedule })
  await reeve.schedules()
  await reeve.removeSchedule({ schedule })
}

async function callObjects(reeve: Reeve, pid: string): Promise<void> {
  const { record } = await reeve.spawn({ ...OUTSIDE, parent: pid, lifetime: 'detached' })
  await reeve.putObject({ pid, name: 'plan', type: 'plan', text: 'look', mutable: true })
  await reeve.putObject({ pid, name: 'plan', text: 'fix', expect: 1 })
  await reeve.objects({ pid })
  await reeve.object({ pid, name: 'plan' })
  await reeve.objectHistory({ pid, name: 'plan' })
  await reeve.diffObject({ pid, name: 'plan' })
  const rights = ['read', 'write'] as const
  const { handle } = await reeve.linkObject({
    pid,
    name: 'plan',
    to: record.pid,
    rights: [...rights],
    live: true,
  })
  await reeve.putObject({ pid: record.pid, name: 'plan', text: 'test', expect: 2 })
  await reeve.revokeObject({ handle })
  await reeve.putObject({ pid: record.pid, name: 'result', type: 'summary', text: 'done' })
  await reeve.end({ pid: record.pid, status: 'completed', replayKey: 'e' })
  await reeve.mergeObjects({ pid, from: record.pid, policy: 'all_new' })
  await reeve.releaseObject({ pid, name: 'plan' })
}

export async function callTriggers(reeve: Reeve): Promise<void> {
  const process = { kind: 'workflow', spec: { workflow: 'nightly' } } as const
  const trigger = 'deploy'
  await reeve.addTrigger({ trigger, process, source: { type: 'webhook', filter: { ref: 'main' } } })
  await reeve.addTrigger({
    trigger: 'built',
    process,
    source: { type: 'event', on: ['ended'], name: ['build'] },
  })
  await reeve.addTrigger({
    trigger: 'found',
    process,
    source: { type: 'files', folder: tmpdir(), glob: '*.never' },
  })
  await reeve.editTrigger({ trigger, pauseOnFailure: true, rotateSecret: true })
  await reeve.runTrigger({ trigger, body: { ref: 'main' } })
  await reeve.pauseTrigger({ trigger, note: 'holidays' })
  await reeve.resumeTrigger({ trigger })
  await reeve.trigger({ trigger })
  await reeve.triggers()
  await reeve.deliveries({ trigger })
  for (const one of [trigger, 'built', 'found']) await reeve.removeTrigger({ trigger: one })
}

async function callExternals(reeve: Reeve): Promise<void> {
  const { envRef } = await reeve.putEnvironment({ variables: {}, policy: {}, options: {} })
  await reeve.environment({ envRef })
  const eventTypes = { note: { schema: {} }, shipped: { schema: {}, end: 'completed' } } as const
  const { processes } = await reeve.spawnMany({
    processes: [
      { ...OUTSIDE, eventTypes, owner: { session: 's1' } },
      { ...OUTSIDE, allowance: { tokensIn: 10 } },
      OUTSIDE,
    ],
  })
  const [one = '', two = '', three = ''] = processes.map(({ record }) => record.pid)
  await reeve.append({ events: [{ pid: one, type: 'note', payload: 1 }] })
  await reeve.waitFor({ pid: one, types: ['note'] })
  await reeve.signal({ pid: one, signal: 'pause' })
  await reeve.signal({ pid: one, signal: 'resume' })
  await reeve.send({ pid: one, name: 'go', value: 1 })
  await reeve.sendMessage({ to: `process:${one}`, value: 1 })
  await reeve.as(`process:${one}`).sendMessage({ to: 'human:host', value: 1 })
  await reeve.setExternalRef({ pid: one, ref: 'https://example.org/1' })
  await reeve.changeOwner({ pid: one, owner: { session: 's2' } })
  await reeve.changeCwd({ pid: one, cwd: '/tmp' })
  await callObjects(reeve, one)
  await reeve.append({ events: [{ pid: one, type: 'shipped', payload: 1, replayKey: 'r' }] })
  await reeve.charge({ pid: two, amounts: { tokensIn: 9 } })
  await reeve.budget({ pid: two })
  await reeve.end({ pid: two, status: 'failed', replayKey: 'e', reason: 'it broke' })
  await reeve.abandon({ pid: three, reason: 'nobody runs it' })
  await reeve.waitAny({ pids: [one, two] })
  await reeve.waitAll({ pids: [one, two, three] })
}

/** Tracks an OS process that Reeve did not start, and ends it with the call. */
async function callTracked(reeve: Reeve): Promise<void> {
  const program = spawn('sleep', ['300'], { stdio: 'ignore' })
  try {
    await once(program, 'spawn')
    const { record } = await reeve.track({ osPid: program.pid ?? 0 })
    await reeve.signal({ pid: record.pid, signal: 'cancel' })
    await ended(reeve, record.pid)
  } finally {
    program.kill('SIGKILL')
  }
}

async function callCommands(reeve: Reeve): Promise<void> {
  await reeve.refreshEnvironment()
  const watch = [{ text: 'typed' }]
  const spec = {
    run: 'echo here; cat',
    output: 'tagged',
    watch,
    stdin: 'pipe',
    ready: { log: 'here' },
  } as const
  const { pid } = await start(reeve, spec, { owner: { session: 's1' } })
  await reeve.wait({ pid, ready: true })
  await reeve.write({ pid, text: 'typed\n' })
  await reeve.submit({ pid, text: 'typed again' })
  await printed(reeve, pid, 'typed again')
  await reeve.waitFor({ pid, types: ['watch_matched'] })
  await reeve.poll({ pid })
  await reeve.log({ pid, reveal: true })
  await reeve.search({ pid, text: 'typed' })
  await reeve.output({ pid })
  await reeve.outputStreams({ pid })
  await reeve.usage({ pid })
  await reeve.closeInput({ pid })
  await ended(reeve, pid)
}

async function callTerminals(reeve: Reeve): Promise<void> {
  const { pid } = await start(reeve, { run: 'exec cat', pty: { cols: 80, rows: 24 } })
  await reeve.resize({ pid, cols: 100, rows: 30 })
  await reeve.screen({ pid })
  const { record } = await reeve.restart({ pid, graceMs: 5_000 })
  await reeve.kill({ pid: record.pid })
}

async function callWorkers(reeve: Reeve): Promise<void> {
  await reeve.announceWorker({ worker: WORKER, workflows: ['order'] })
  await reeve.workflows()
  await reeve.tools()
  const request = { kind: 'workflow', spec: { workflow: 'order' } } as const
  const first = (await reeve.spawn(request)).record
  const second = (await reeve.spawn(request)).record
  const fences = new Map<string, number>()
  await until('the worker holds both', async () => {
    const { work } = await reeve.claimWork({ worker: WORKER, timeoutMs: 100 })
    for (const { record, fence } of work) fences.set(record.pid, fence)
    return fences.size === 2
  })
  const work = { worker: WORKER, pid: first.pid, fence: fences.get(first.pid) ?? 0 }
  const step = { stepIndex: 1, kind: 'step', name: 'charge', began: 0, tries: 1 } as const
  await reeve.doWork({ ...work, act: { type: 'end_step', step: { ...step, how: 'done', value: 1 } } })
  await reeve.doWork({ ...work, act: { type: 'spawn', request: OUTSIDE, stepIndex: 2 } })
  const wait = { on: 'signal', name: 'paid', ordinal: 1, stepIndex: 3 } as const
  const key = await reeve.doWork({ ...work, act: { type: 'key', wait } })
  await reeve.doWork({ ...work, act: { type: 'enter_wait', wait, until: null } })
  await reeve.doWork({ ...work, act: { type: 'park', waits: [wait] } })
  await reeve.answer({ key: key.type === 'said' ? key.text : '', value: 2 })
  // The second process goes back in line.
  await reeve.retireWorker({ worker: WORKER })
  await reeve.kill({ pid: first.pid })
  await reeve.kill({ pid: second.pid })
}

async function callApprovals(reeve: Reeve): Promise<void> {
  await reeve.addRule({ rule: { effect: 'ask', resource: 'tool:asked' } })
  await reeve.policies()
  await reeve.openSession({ session: 'asks' })
  for (const input of [1, 2, 3])
    await reeve.as('session:asks').spawn({ kind: 'tool', spec: { tool: 'asked', input } })
  const [first, second, third] = (await reeve.approvals()).approvals
  await reeve.approval({ id: third?.id ?? '' })
  await reeve.answerApprovals({ answers: [{ type: 'deny', id: third?.id ?? '' }] })
  await reeve.approve({ id: first?.id ?? '' })
  await reeve.deny({ id: second?.id ?? '', advice: 'no' })
  const { approval } = await reeve.ask({ question: 'Why?' })
  await reeve.reply({ id: approval, value: 'because' })
  await reeve.removeRule({ id: 'r1' })
  await callPolicies(reeve)
}

export async function callPolicies(reeve: Reeve): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-policies-'))
  try {
    await mkdir(join(folder, '.reeve'))
    const text = JSON.stringify({ rules: [{ effect: 'allow', resource: 'tool:asked' }] })
    await writeFile(join(folder, '.reeve', 'policy.json'), text)
    await reeve.checkPolicy({ text })
    const { hash } = await reeve.policyFile({ folder })
    await reeve.trustPolicy({ folder, hash })
    await reeve.forgetPolicy({ folder })
    await reeve.registerImage({ image: { name: 'every', system: 'You try every verb.' } })
    await reeve.images({ folder })
    await reeve.image({ name: 'every' })
    await reeve.removeImage({ name: 'every' })
    await mkdir(join(folder, '.reeve', 'agents'))
    await writeFile(join(folder, '.reeve', 'agents', 'one.yaml'), 'description: one')
    const [file] = (await reeve.agentFiles({ folder })).files.filter(({ name }) => name === 'one')
    if (file !== undefined) {
      await reeve.agentFile({ path: file.path })
      await reeve.trustFile({ path: file.path, hash: file.hash })
    }
  } finally {
    await rm(folder, { recursive: true })
  }
  const from = { type: 'session', session: 'asks' } as const
  await reeve.setPreset({ to: from, preset: 'full' })
  await reeve.addRule({ to: from, rule: { effect: 'allow', resource: 'tool:a/**', delegable: { depth: 1 } } })
  const { record } = await reeve.spawn({ ...OUTSIDE, owner: { session: 'asks' } })
  const to = { type: 'process', pid: record.pid } as const
  const { id } = await reeve.delegateRule({ from, to, rule: { effect: 'allow', resource: 'tool:a/b' } })
  await reeve.explainRules({ subject: from, what: { type: 'tool', tool: 'a/b' } })
  await reeve.revokeDelegated({ to, id })
  await reeve.clearRules({ from })
}

async function callInbox(reeve: Reeve): Promise<void> {
  const scope = 'session:s1'
  const { notices } = await reeve.takeNotices({ scope, consumer: 'one' })
  await reeve.acknowledge({ scope, consumer: 'one', positions: notices.map(({ position }) => position) })
  await reeve.notices({ scope, all: true })
}

/** An agent whose model answers at once, and to "hold" with a first word and nothing more. */
const SCRIPT = {
  replies: [
    {
      when: { input: 'hold' },
      answer: {
        fragmentMs: 3_600_000,
        parts: [{ text: 'This answer takes very long, longer than a test.' }],
      },
    },
    { when: {}, answer: { parts: [{ text: 'Done.' }] } },
  ],
}

export async function callAgents(reeve: Reeve): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-agent-'))
  try {
    const file = join(folder, 'script.json')
    await writeFile(file, JSON.stringify(SCRIPT))
    const model = `scripted/${file}`
    const owner = { session: 's1' }
    const spec = { agent: 'coder', model }
    const { record } = await reeve.spawn({
      kind: 'agent',
      spec,
      owner,
      cwd: folder,
      allowance: { toolCalls: 9 },
    })
    const { pid } = record
    await reeve.agents()
    await reeve.runAgent({ pid, text: 'go' })
    await reeve.waitAgent({ pid })
    await reeve.notifyAgent({ pid, text: 'It rains.' })
    await reeve.waitAgent({ pid, turn: 2 })
    await reeve.compactAgent({ pid })
    await reeve.waitAgent({ pid })
    await reeve.rewindPoints({ pid })
    await reeve.rewindAgent({ pid, turn: 3, dryRun: true })
    await reeve.configureAgent({ pid, model })
    await reeve.allowAgent({ pid, amounts: { toolCalls: 1 } })
    await callQueue(reeve, pid)
    await reeve.inspectAgent({ pid })
    await reeve.spawnAgent({ parent: pid, goal: 'a part' })
    await reeve.spawnAgents({ parent: pid, agents: [{ goal: 'another part' }] })
    const { record: fork } = await reeve.forkAgent({ pid, goal: 'another way' })
    await reeve.shutDownAgent({ pid: fork.pid })
    await callWorktrees(reeve, pid, folder)
    await reeve.agentCost({ pid })
    await reeve.agentLog({ pid })
    await reeve.exportAgent({ pid })
    await reeve.shutDownAgent({ pid })
    await ended(reeve, pid)
    const { record: restored } = await reeve.restoreAgent({ pid })
    await reeve.shutDownAgent({ pid: restored.pid })
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function callWorktrees(reeve: Reeve, parent: string, folder: string): Promise<void> {
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@localhost', ...args], { cwd: folder })
  git('init', '--quiet')
  git('commit', '--quiet', '--allow-empty', '-m', 'one')
  const workspace = { worktree: true } as const
  const { record } = await reeve.spawnAgent({ parent, goal: 'a part', workspace })
  const { pid: worktree } = record
  await reeve.waitAgent({ pid: worktree })
  await reeve.worktrees()
  await reeve.mergeWorktree({ worktree })
  await writeFile(join(String(record.cwd), 'work'), 'work')
  await reeve.shutDownAgent({ pid: worktree })
  await ended(reeve, worktree)
  await reeve.removeWorktree({ worktree, discard: true })
}

async function callQueue(reeve: Reeve, pid: string): Promise<void> {
  const { revision } = await reeve.show({ pid })
  await reeve.runAgent({ pid, text: 'hold' })
  await reeve.waitFor({ pid, types: ['output_begun'], after: revision })
  await reeve.pauseAgent({ pid })
  for (const id of ['one', 'two', 'three']) await reeve.runAgent({ pid, id, text: id, mode: 'queue' })
  await reeve.editInput({ pid, input: 'one', text: 'other' })
  await reeve.removeInput({ pid, input: 'two' })
  await reeve.reorderInputs({ pid, inputs: ['three', 'one'] })
  await reeve.agentInputs({ pid })
  await reeve.writtenTools({ pid })
  await reeve.revokeTool({ pid, name: 'none' }).catch(() => undefined)
  await reeve.completeInput({ pid, text: '/' })
  await reeve.resumeAgent({ pid })
  await reeve.cancelTurn({ pid, dropQueued: true })
}

async function callReads(reeve: Reeve): Promise<void> {
  const { record } = await reeve.spawn(OUTSIDE)
  await reeve.show({ pid: record.pid })
  await reeve.list()
  await reeve.events({ pid: record.pid })
  await reeve.changes()
  await reeve.liveCount()
  await reeve.status()
  await reeve.whoami()
}

async function callStops(reeve: Reeve): Promise<void> {
  await reeve.openTurn({ session: 's2', turn: 't2' })
  await reeve.spawn({ ...OUTSIDE, owner: { session: 's2', turn: 't2' } })
  await reeve.interrupt({ scope: { session: 's2' } })
  await reeve.recover()
  await callHolders(reeve)
  await reeve.killAll({ graceMs: 5_000 })
  await reeve.prune({ keep: 3 })
}

/** It removes itself, and goes on under another id. */
async function callHolders(reeve: Reeve): Promise<void> {
  const { holders } = await reeve.holders()
  const own = holders.find(({ role, state }) => role === 'kernel' && state === 'live')
  if (own === undefined) throw new Error('No kernel is among the holders')
  await reeve.removeHolder({ id: own.id, force: true })
}
