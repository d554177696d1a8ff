import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Embedded, ReeveVerbs, ToolHandler, WorkflowFunction } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { type VerbName, verbs } from '../../src/verbs/reeve.ts'
import { fromWire, toWire } from '../../src/verbs/request.ts'
import { TempReeve } from '../command/commands.ts'
import { callAgents, callPolicies, callSchedules, callTriggers } from '../laws/every-verb.ts'
import { tempFolder } from '../temp-folder.ts'

/** The verbs that were answered in this file. */
const answered = new Set<VerbName>()

/** The same Reeve; each answer is parsed by its verb's output schema, as it is and as it arrives over HTTP. */
function checked<Reeve extends ReeveVerbs>(reeve: Reeve): Reeve {
  const calls = (Object.keys(verbs) as VerbName[]).map((name) => {
    const call = reeve[name] as (...given: unknown[]) => Promise<unknown>
    const checkedCall = async (...given: unknown[]) => {
      const answer = await call(...given)
      for (const form of [answer, fromWire(toWire(answer))]) verbs[name].output.parse(form)
      answered.add(name)
      return answer
    }
    return [name, checkedCall]
  })
  return { ...reeve, ...Object.fromEntries(calls) }
}

const tools: Record<string, ToolHandler> = {
  add: ({ input }) => ({ sum: Number(input) + 1 }),
  fail: () => {
    throw new Error('no')
  },
}

const keys: string[] = []
const workflows: Record<string, WorkflowFunction> = {
  order: async (context) => {
    await context.step('charge', () => 7)
    await context.step('flaky', ({ attempt }) => (attempt === 1 ? Promise.reject(new Error('once')) : 'ok'), {
      retry: { times: 1, backoffMs: 1 },
    })
    const child = await context.spawn({ kind: 'tool', spec: { tool: 'add', input: 1 } })
    await context.wait(child)
    await context.sleep(5)
    keys.push(await context.keyFor('paid'))
    await context.charge({ toolCalls: 1 })
    return context.waitForSignal('paid')
  },
}

async function opened(temp: TempReeve): Promise<Embedded> {
  return checked(await temp.embed({}, { tools, workflows }))
}

test('answers about commands fit their schemas', async () => {
  await using temp = new TempReeve()
  const reeve = await opened(temp)
  await reeve.openSession({ session: 's1', allowance: { toolCalls: 5, cost: 1.5 } })
  const owner = { session: 's1' }
  const { record } = await reeve.spawn({
    kind: 'command',
    name: 'talker',
    owner,
    cwd: '/',
    spec: {
      run: 'echo one; echo two >&2; read answer; echo "got $answer"; read rest; exit 3',
      stdin: 'pipe',
      output: 'tagged',
      env: { TOKEN: 'a-secret-that-is-long-enough' },
      ready: { log: '^one' },
      watch: [{ text: 'got', name: 'answer' }],
      notify: 'complete',
      limits: { outputBytes: 1_000_000 },
    },
  })
  const { pid } = record
  await reeve.wait({ pid, ready: true })
  await reeve.wait({ pid, until: { pattern: 't.o' } })
  await reeve.wait({ pid, timeoutMs: 1, until: { text: 'never' } })
  await reeve.wait({ pid, timeoutMs: 1 })
  await reeve.list({ ports: true, budgets: true, filter: { owner: { session: 's1' } } })
  await reeve.show({ pid })
  await reeve.show({ pid, reveal: true })
  await reeve.usage({ pid })
  await reeve.write({ pid, text: 'hal', seq: 1 })
  await reeve.submit({ pid, text: 'lo' })
  await reeve.wait({ pid, until: { text: 'got hallo' } })
  await reeve.closeInput({ pid })
  await reeve.wait({ pid })
  await reeve.usage({ pid })
  await reeve.poll({ pid, maxChars: 3 })
  await reeve.log({ pid })
  await reeve.log({ pid, stream: 'stderr' })
  await reeve.search({ pid, text: 'got', context: 1 })
  await reeve.output({ pid })
  await reeve.outputStreams({ pid, times: true })
  await reeve.events({ pid })
  await reeve.waitFor({ pid, types: ['watch_matched', 'ready', 'ended'] })
  await reeve.waitFor({ pid, types: ['never'] })
  await reeve.changes({ filter: { pid: [pid] } })
  await reeve.changes({ reveal: true })
  await reeve.notices({ scope: 'session:s1', all: true })
  const { notices } = await reeve.takeNotices({ scope: 'session:s1', consumer: 'c' })
  expect(notices.length).toBeGreaterThan(0)
  const [first] = notices
  await reeve.acknowledge({ scope: 'session:s1', consumer: 'c', positions: [first?.position ?? 0] })
  const restarted = await reeve.restart({ pid })
  await reeve.kill({ pid: restarted.record.pid })
  await reeve.kill({ pid: restarted.record.pid })
})

test('answers about terminals, signals and stops fit their schemas', async () => {
  await using temp = new TempReeve()
  const reeve = await opened(temp)
  const spec = { argv: ['sh'], pty: { cols: 60, rows: 10 } }
  const { record } = await reeve.spawn({ kind: 'command', spec, owner: { source: 'test' } })
  const { pid } = record
  await reeve.submit({ pid, text: 'echo $((40 + 2))' })
  await reeve.wait({ pid, until: { text: '42' } })
  await reeve.screen({ pid, scrollback: 10 })
  await reeve.resize({ pid, cols: 100, rows: 30 })
  await reeve.changeCwd({ pid, cwd: '/tmp' })
  await reeve.changeOwner({ pid, owner: { source: 'other' } })
  await reeve.signal({ pid, signal: 'pause' })
  await reeve.signal({ pid, signal: 'pause' })
  await reeve.signal({ pid, signal: 'resume' })
  await reeve.signal({ pid, signal: 'SIGWINCH' })
  const { processes } = await reeve.spawnMany({
    processes: [
      { kind: 'command', spec: { run: 'sleep 300' }, owner: { source: 'other' }, label: 'one' },
      {
        kind: 'command',
        spec: { run: 'sleep 300', ready: { port: 9, timeoutMs: 1 } },
        group: { id: 'g', size: 1 },
      },
    ],
  })
  const pids = processes.map((one) => one.record.pid)
  await reeve.wait({ pid: pids[1] ?? '', ready: true })
  await reeve.liveCount()
  await reeve.refreshEnvironment()
  await reeve.interrupt({ scope: { source: 'other' }, tree: true })
  await reeve.waitAny({ pids })
  await reeve.waitAll({ pids, timeoutMs: 1 })
  await reeve.waitAny({ pids: [pids[1] ?? ''], timeoutMs: 1 })
  await reeve.waitAll({ pids: [pids[1] ?? ''] }, { signal: AbortSignal.abort() })
  await reeve.wait({ pid: pids[1] ?? '' }, { signal: AbortSignal.abort() })
  const report = await reeve.killAll({ graceMs: 100 })
  expect(report.matched).toBeGreaterThan(0)
  await reeve.waitAll({ pids })
  const { pruned } = await reeve.prune({ keep: 1 })
  expect(pruned.length).toBeGreaterThan(0)
  await reeve.prune({ olderThanMs: 0 })
})

test('answers about tools, workflows and budgets fit their schemas', async () => {
  await using temp = new TempReeve()
  const reeve = await opened(temp)
  const { envRef } = await reeve.putEnvironment({
    variables: { MODE: 'test', KEY: { secret: 'KEY' } },
    policy: { network: false },
    options: { retries: 3 },
  })
  await reeve.environment({ envRef })
  for (const tool of ['add', 'fail']) {
    const { record } = await reeve.spawn({ kind: 'tool', spec: { tool, input: 1 } })
    await reeve.wait({ pid: record.pid })
    await reeve.events({ pid: record.pid, tail: 2 })
  }
  const { record } = await reeve.spawn({
    kind: 'workflow',
    spec: { workflow: 'order', input: { id: 1 } },
    allowance: { toolCalls: 10, children: 3 },
  })
  const { pid } = record
  await reeve.waitFor({ pid, types: ['wait_entered'] })
  await reeve.workflows()
  await reeve.tools()
  await expect.poll(() => keys.length).toBe(1)
  await reeve.charge({ pid, amounts: { cost: 0.25 }, replayKey: 'once' })
  await reeve.charge({ pid, amounts: { cost: 0.25 }, done: true })
  await reeve.budget({ pid })
  expect(await reeve.answer({ key: keys[0] ?? '', value: { paid: true } })).toEqual({ type: 'accepted' })
  await reeve.wait({ pid })
  await reeve.events({ pid })
  await reeve.list({ filter: { status: 'any' }, budgets: true, newestFirst: true, limit: 2 })
  const agent = await reeve.spawn({ kind: 'agent', spec: { agent: 'coder', goal: 'build' } })
  await reeve.send({ pid: agent.record.pid, name: 'hint', value: { text: 'look there' } })
  await reeve.send({ pid: agent.record.pid, name: 'hint', id: 'same' })
  await reeve.send({ pid: agent.record.pid, name: 'hint', id: 'same' })
  const to = `process:${agent.record.pid}`
  const sent = { to, channel: 'hints', correlationId: 'c', replyTo: 'human:host', value: ['look'] } as const
  expect(await reeve.sendMessage({ ...sent, idempotencyKey: 'k' })).toMatchObject({ type: 'sent', to })
  expect(await reeve.sendMessage({ ...sent, idempotencyKey: 'k' })).toMatchObject({ type: 'replayed' })
  await reeve.notices({ scope: to })
  const { pid: shared } = agent.record
  await reeve.putObject({ pid: shared, name: 'plan', type: 'plan', text: 'one', mutable: true, tags: ['a'] })
  await reeve.putObject({ pid: shared, name: 'plan', data: 'AAE=', expect: 1, metadata: { size: 2 } })
  await reeve.objects({ pid: shared, limit: 1 })
  expect(await reeve.object({ pid: shared, name: 'plan' })).toMatchObject({ text: '\u0000\u0001' })
  expect(await reeve.object({ pid: shared, name: 'plan', version: 1, maxBytes: 2 })).toMatchObject({
    text: 'on',
    isCut: true,
  })
  await reeve.objectHistory({ pid: shared, name: 'plan' })
  await reeve.diffObject({ pid: shared, name: 'plan' })
  const helper = await reeve.spawn({ kind: 'external', spec: { description: 'x' }, parent: shared })
  const { handle } = await reeve.linkObject({ pid: shared, name: 'plan', to: helper.record.pid })
  await reeve.objects({ pid: helper.record.pid })
  await reeve.revokeObject({ handle })
  await reeve.putObject({ pid: helper.record.pid, name: 'found', type: 'evidence', data: '/w==' })
  expect(await reeve.object({ pid: helper.record.pid, name: 'found' })).toMatchObject({ data: '/w==' })
  await reeve.end({ pid: helper.record.pid, status: 'completed', replayKey: 'e' })
  await reeve.mergeObjects({ pid: shared, from: helper.record.pid })
  await reeve.mergeObjects({ pid: shared, from: helper.record.pid, policy: 'all_new' })
  await reeve.releaseObject({ pid: shared, name: 'plan' })
  await reeve.events({ pid: agent.record.pid })
  await reeve.signal({ pid: agent.record.pid, signal: 'cancel' })
})

test('answers about agents fit their schemas', async () => {
  await using temp = new TempReeve()
  const reeve = await opened(temp)
  await reeve.openSession({ session: 's1' })
  await callAgents(reeve)
})

test('answers about written tools fit their schemas', async () => {
  await using temp = new TempReeve()
  const reeve = await opened(temp)
  const input = {
    name: 'one',
    description: 'Answers 1.',
    inputSchema: { type: 'object' },
    source: 'export default () => 1',
  }
  const cwd = tempFolder()
  const answers = [{ parts: [{ tool: 'propose_tool', input }] }, { parts: [{ text: 'done' }] }]
  writeFileSync(join(cwd, 'script.json'), JSON.stringify({ answers }))
  const spec = { agent: 'writer', model: 'scripted/script.json', tools: ['propose_tool'], goal: 'write' }
  const { pid } = (await reeve.spawn({ kind: 'agent', cwd, spec })).record
  await expect.poll(async () => (await reeve.approvals({})).approvals.length).toBe(1)
  const [approval] = (await reeve.approvals({})).approvals
  await reeve.approve({ id: approval?.id ?? '', grant: 'once' })
  await reeve.waitAgent({ pid, turn: 1, timeoutMs: 60_000 })
  await reeve.writtenTools({ pid })
  await reeve.writtenTools({ pid, name: 'one' })
  await reeve.revokeTool({ pid, name: 'one', reason: 'wrong' })
})

test('answers about external processes fit their schemas', async () => {
  await using temp = new TempReeve()
  const reeve = await opened(temp)
  const eventTypes = {
    progress: { schema: { type: 'object' }, facet: 'progress' },
    done: { schema: {}, end: 'completed' },
  } as const
  const { record } = await reeve.spawn({ kind: 'external', spec: { description: 'a build' }, eventTypes })
  const { pid } = record
  await reeve.append({ events: [{ pid, type: 'progress', payload: { percent: 10 }, replayKey: 'p10' }] })
  await reeve.append({ events: [{ pid, type: 'progress', payload: { percent: 10 }, replayKey: 'p10' }] })
  await reeve.setExternalRef({ pid, ref: { url: 'https://ci.example/1' } })
  await reeve.signal({ pid, signal: 'cancel' })
  await reeve.end({ pid, status: 'failed', exitCode: 1, reason: 'red', replayKey: 'end' })
  await reeve.end({ pid, status: 'failed', exitCode: 1, reason: 'red', replayKey: 'end' })
  await reeve.events({ pid })
  await reeve.show({ pid })
  const other = await reeve.spawn({ kind: 'external', spec: { description: 'lost' } })
  await reeve.abandon({ pid: other.record.pid, reason: 'no answer' })
  const program = spawn('sleep', ['300'])
  onTestFinished(() => void program.kill('SIGKILL'))
  await reeve.track({ osPid: program.pid ?? 0, description: 'a program', owner: { terminal: 'tty1' } })
})

test('answers about schedules fit their schemas', async () => {
  await using temp = new TempReeve()
  await callSchedules(await opened(temp))
})

test('answers about triggers fit their schemas', async () => {
  await using temp = new TempReeve()
  await callTriggers(await opened(temp))
})

test('answers about sessions fit their schemas', async () => {
  await using temp = new TempReeve()
  const reeve = await opened(temp)
  for (const session of ['s1', 's2']) await reeve.openSession({ session, label: session })
  await reeve.openTurn({ session: 's1', turn: 't1' })
  await reeve.touchSession({ session: 's1' })
  const { record } = await reeve.spawn({
    kind: 'command',
    spec: { run: 'sleep 300' },
    owner: { session: 's1', turn: 't1' },
    lifetime: 'session',
  })
  const pids = [record.pid]
  await reeve.grant({ session: 's2', pids, descriptor: { as: 'build' } })
  await reeve.grants({ session: 's2' })
  await checked(reeve.as('session:s2')).list()
  await reeve.transferGrants({ from: 's2', to: 's1', pids })
  await reeve.revoke({ session: 's1', pids })
  await reeve.audit()
  await reeve.verifyAudit()
  await reeve.pruneAudit({ keep: 1 })
  await reeve.sessions()
  await reeve.budget({ session: 's1' })
  await checked(reeve.as('session:s1')).whoami()
  await reeve.endTurn({ session: 's1', turn: 't1' })
  await reeve.endSession({ session: 's1' })
  await reeve.wait({ pid: record.pid })
  await reeve.deleteSession({ session: 's1' })
})

test('answers to workers and about holders fit their schemas', async () => {
  await using temp = new TempReeve()
  const reeve = await opened(temp)
  const worker = `w_${randomBytes(12).toString('hex')}`
  const inputSchema = { type: 'object' }
  const tools = [{ name: 'ping', description: 'Answers.', inputSchema, recovery: 'bound' as const }]
  await reeve.announceWorker({ worker, workflows: ['remote'], tools })
  await reeve.tools()
  const { record } = await reeve.spawn({
    kind: 'workflow',
    spec: { workflow: 'remote' },
    envRef: await someEnvironment(reeve),
  })
  const { pid } = record
  const { work } = await reeve.claimWork({ worker, timeoutMs: 20_000 })
  expect(work.map((one) => one.record.pid)).toEqual([pid])
  const held = { worker, pid, fence: work[0]?.fence ?? 0 }
  const step = { stepIndex: 1, kind: 'step', name: 'one', began: Date.now(), tries: 1 } as const
  const wait = { on: 'signal', name: 'go', ordinal: 1, stepIndex: 2 } as const
  await reeve.doWork({ ...held, act: { type: 'seed' } })
  await reeve.doWork({ ...held, act: { type: 'environment' } })
  await reeve.doWork({ ...held, act: { type: 'end_step', step: { ...step, how: 'done', value: 1 } } })
  await reeve.doWork({ ...held, act: { type: 'end_step', step: { ...step, how: 'done', value: 1 } } })
  const request = { kind: 'tool', spec: { tool: 'add', input: 1 } } as const
  await reeve.doWork({ ...held, act: { type: 'spawn', request, stepIndex: 3 } })
  await reeve.doWork({ ...held, act: { type: 'spawn_child', request, number: 1 } })
  await reeve.doWork({ ...held, act: { type: 'enter_wait', wait, until: null } })
  await reeve.doWork({ ...held, act: { type: 'key', wait } })
  await reeve.doWork({ ...held, act: { type: 'events', after: 0 } })
  await reeve.doWork({ ...held, act: { type: 'park', waits: [wait] } })
  await reeve.holders()
  await reeve.addRule({ rule: { effect: 'ask', resource: 'tool:add' } })
  await reeve.openSession({ session: 'asks' })
  for (const input of [1, 2, 3, 4])
    await reeve.as('session:asks').spawn({ kind: 'tool', spec: { tool: 'add', input } })
  const [first, second, third, fourth] = (await reeve.approvals()).approvals
  await reeve.approval({ id: first?.id ?? '' })
  await reeve.approve({ id: first?.id ?? '', grant: 'session' })
  await reeve.approve({ id: fourth?.id ?? '', spec: { tool: 'add', input: 5 } })
  await reeve.answerApprovals({
    answers: [
      { type: 'approve', id: third?.id ?? '' },
      { type: 'deny', id: fourth?.id ?? '', advice: 'no' },
      { type: 'deny', id: 'a_none' },
    ],
  })
  await reeve.deny({ id: second?.id ?? '', advice: 'no' })
  const { approval } = await reeve.ask({ question: 'Which?', choices: ['a', 'b'] })
  await reeve.reply({ id: approval, value: 'a' })
  await reeve.policies()
  await reeve.removeRule({ id: 'r1' })
  await callPolicies(reeve)
  await reeve.removeHolder({ id: worker, force: true })
  await reeve.retireWorker({ worker })
  await reeve.recover()
  await reeve.status()
})

async function someEnvironment(reeve: Embedded): Promise<string> {
  const { envRef } = await reeve.putEnvironment({ variables: { A: '1' }, policy: {}, options: {} })
  return envRef
}

test('an answer that does not fit its schema is an error in every test', () => {
  expect(process.env['REEVE_CHECK_ANSWERS']).toBe('1')
})

test('every verb was answered in this file', () => {
  expect(Object.keys(verbs).filter((name) => !answered.has(name as VerbName))).toEqual([])
})
