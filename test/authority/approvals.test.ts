import { expect, test } from 'vitest'
import { codeOf, onlyPending, pendingIn, ruledReeve, runs, tool } from './ruled-reeve.ts'

/** Attacks on approvals: a yes is for one request, and nothing else begins with it. */

const ASK = { effect: 'ask', resource: 'tool:deploy' }

test('a yes to one request does not start an equal one', async () => {
  const { reeve, agent, ran } = await ruledReeve(ASK)
  const first = (await agent.spawn(tool('deploy'))).record
  const second = (await agent.spawn(tool('deploy'))).record
  const [approval] = await pendingIn(reeve)
  expect(approval?.pid).toBe(first.pid)
  await reeve.approve({ id: approval?.id ?? '' })
  await reeve.wait({ pid: first.pid })
  expect((await reeve.show({ pid: second.pid })).status).toBe('waiting')
  expect(ran).toEqual(['deploy'])
})

test('two yeses to one request start it once', async () => {
  const { reeve, agent, ran } = await ruledReeve(ASK)
  const { record } = await agent.spawn(tool('deploy'))
  const { id } = await onlyPending(reeve)
  const answers = await Promise.all(Array.from({ length: 20 }, () => reeve.approve({ id })))
  expect(answers.filter(({ type }) => type === 'settled')).toHaveLength(1)
  await reeve.wait({ pid: record.pid })
  expect(ran).toEqual(['deploy'])
})

test('a repeated request with the same key is the same request: it neither asks twice nor runs twice', async () => {
  const { reeve, agent, ran } = await ruledReeve(ASK)
  const keyed = { ...tool('deploy'), idempotencyKey: 'k' }
  const { record } = await agent.spawn(keyed)
  const { id } = await onlyPending(reeve)
  expect((await agent.spawn(keyed)).record.pid).toBe(record.pid)
  await reeve.approve({ id })
  await reeve.wait({ pid: record.pid })
  expect(await agent.spawn(keyed)).toMatchObject({ type: 'existing', record: { pid: record.pid } })
  expect(await pendingIn(reeve)).toEqual([])
  expect(ran).toEqual(['deploy'])
})

test('the key of an approved request does not carry another input', async () => {
  const { reeve, agent, ran } = await ruledReeve(ASK)
  await agent.spawn({ ...tool('deploy', 1), idempotencyKey: 'k' })
  const { id, pid } = await onlyPending(reeve)
  await reeve.approve({ id })
  await reeve.wait({ pid })
  expect(await codeOf(agent.spawn({ ...tool('deploy', 2), idempotencyKey: 'k' }))).toBe('conflict')
  expect(ran).toEqual(['deploy 1'])
})

test('the key of another session is not the same request', async () => {
  const { reeve, agent, other, ran } = await ruledReeve(ASK)
  await agent.spawn({ ...tool('deploy'), idempotencyKey: 'k' })
  const { id, pid } = await onlyPending(reeve)
  await reeve.approve({ id })
  await reeve.wait({ pid })
  const { record } = await other.spawn({ ...tool('deploy'), idempotencyKey: 'k' })
  expect(record.status).toBe('waiting')
  expect(ran).toEqual(['deploy'])
})

test('the pid of an approved process does not let another session start it again', async () => {
  const { reeve, agent, other, ran } = await ruledReeve(ASK)
  const { pid } = (await agent.spawn(tool('deploy'))).record
  await reeve.approve({ id: (await onlyPending(reeve)).id })
  await reeve.wait({ pid })
  expect(await codeOf(other.spawn({ ...tool('deploy'), pid }))).toMatch(/^(denied|conflict)$/)
  expect(ran).toEqual(['deploy'])
})

test('a restart of an approved process asks again', async () => {
  const { reeve, agent, ran } = await ruledReeve(ASK)
  await agent.spawn(tool('deploy'))
  const { id, pid } = await onlyPending(reeve)
  await reeve.approve({ id })
  await reeve.wait({ pid })
  const { record } = await agent.restart({ pid })
  expect(record).toMatchObject({ status: 'waiting', wait: { on: 'approval' } })
  expect(ran).toEqual(['deploy'])
})

test('a process that says that it restarts an approved one asks again', async () => {
  const { reeve, agent, ran } = await ruledReeve(ASK)
  await agent.spawn(tool('deploy'))
  const { id, pid } = await onlyPending(reeve)
  await reeve.approve({ id })
  await reeve.wait({ pid })
  const { record } = await agent.spawn({ ...tool('deploy'), restartOf: pid })
  expect(record.status).toBe('waiting')
  expect(ran).toEqual(['deploy'])
})

test('a process that replaces an approved one of its name asks again', async () => {
  const { reeve, agent, ran } = await ruledReeve(ASK)
  await agent.spawn({ ...tool('deploy'), name: 'it' })
  const { id } = await onlyPending(reeve)
  const { record } = await agent.spawn({ ...tool('deploy'), name: 'it', ifRunning: 'replace' })
  expect(record.status).toBe('waiting')
  expect(await reeve.approve({ id })).toMatchObject({
    type: 'settled_before',
    approval: { state: 'withdrawn' },
  })
  expect((await onlyPending(reeve)).pid).toBe(record.pid)
  expect(ran).toEqual([])
})

test('of a batch with one request that is asked about, only the others begin', async () => {
  const { reeve, agent, ran } = await ruledReeve(ASK)
  const { processes } = await agent.spawnMany({ processes: [tool('build'), tool('deploy'), tool('build')] })
  expect(processes[1]?.record.status).toBe('waiting')
  for (const { record } of [processes[0], processes[2]].flatMap((one) => one ?? []))
    await reeve.wait({ pid: record.pid })
  expect(ran).toEqual(['build', 'build'])
})

test('of a batch with one denied request, none is registered', async () => {
  const { reeve, agent, ran } = await ruledReeve({ effect: 'deny', resource: 'tool:deploy' })
  expect(await codeOf(agent.spawnMany({ processes: [tool('build'), tool('deploy')] }))).toBe('denied')
  expect((await reeve.list({ filter: { status: 'any' } })).processes).toEqual([])
  expect(ran).toEqual([])
})

test('a yes after a stop, a no and a yes again start nothing', async () => {
  const { reeve, agent, ran } = await ruledReeve(ASK)
  await agent.spawn(tool('deploy'))
  const stopped = await onlyPending(reeve)
  await agent.kill({ pid: stopped.pid })
  expect(await reeve.approve({ id: stopped.id })).toMatchObject({ approval: { state: 'withdrawn' } })
  await agent.spawn(tool('deploy'))
  const denied = await onlyPending(reeve)
  await reeve.deny({ id: denied.id })
  expect(await reeve.approve({ id: denied.id })).toMatchObject({ approval: { answer: { type: 'denied' } } })
  for (const [{ pid }, state] of [
    [stopped, 'withdrawn'],
    [denied, 'denied'],
  ] as const)
    expect(await reeve.show({ pid })).toMatchObject({ status: 'cancelled', gate: { state } })
  expect(ran).toEqual([])
})

test('the end of the session withdraws its requests, and a late yes starts nothing', async () => {
  const { reeve, agent, ran } = await ruledReeve(ASK)
  await agent.spawn({ ...tool('deploy'), lifetime: 'session' })
  const { id, pid } = await onlyPending(reeve)
  await agent.endSession({ session: 's1' })
  await reeve.wait({ pid })
  expect(await reeve.approve({ id })).toMatchObject({ approval: { state: 'withdrawn' } })
  expect(ran).toEqual([])
})

test('neither a one-shot key nor a signal nor an event answers an approval', async () => {
  const { reeve, agent, ran } = await ruledReeve(ASK)
  const { pid } = (await agent.spawn(tool('deploy'))).record
  const { id } = await onlyPending(reeve)
  for (const key of [id, pid, `approval:${id}`, `approval:${id}:settled`])
    expect(await agent.answer({ key, value: true })).toEqual({ type: 'unknown' })
  await agent.send({ pid, name: id, value: true }).catch(() => undefined)
  await agent.send({ pid, name: 'approval', value: true }).catch(() => undefined)
  const settled = { approval: id, how: 'approved', by: 'human:ada' }
  expect(
    await codeOf(agent.append({ events: [{ pid, type: 'approval_settled', payload: settled }] })),
  ).not.toContain('accepted')
  expect((await agent.show({ pid })).status).toBe('waiting')
  expect((await onlyPending(reeve)).id).toBe(id)
  expect(ran).toEqual([])
})

test('no message, resume or end by the asker makes a waiting process begin or succeed', async () => {
  const { reeve, agent, ran } = await ruledReeve(ASK)
  const { pid } = (await agent.spawn(tool('deploy'))).record
  await agent.sendMessage({ to: `process:${pid}`, value: 'go on' }).catch(() => undefined)
  await agent.signal({ pid, signal: 'resume' }).catch(() => undefined)
  expect(await codeOf(agent.end({ pid, status: 'completed', replayKey: 'e' }))).not.toContain('accepted')
  expect((await reeve.show({ pid })).status).toBe('waiting')
  expect(ran).toEqual([])
})

test('no worker claims a workflow that waits for an approval', async () => {
  const { reeve, agent } = await ruledReeve({ effect: 'ask', resource: 'workflow:order' })
  const worker = `w_${'0'.repeat(24)}`
  await reeve.announceWorker({ worker, workflows: ['order'] })
  const { record } = await agent.spawn({ kind: 'workflow', spec: { workflow: 'order' } })
  expect(record.status).toBe('waiting')
  expect((await reeve.claimWork({ worker, timeoutMs: 50 })).work).toEqual([])
  await reeve.approve({ id: (await onlyPending(reeve)).id })
  expect((await reeve.claimWork({ worker, timeoutMs: 30_000 })).work).toMatchObject([
    { record: { pid: record.pid } },
  ])
})

test('a session sees its own requests and no others', async () => {
  const { agent, other } = await ruledReeve(ASK)
  await agent.spawn(tool('deploy'))
  expect(await pendingIn(agent)).toHaveLength(1)
  expect(await pendingIn(other)).toEqual([])
})

test('the subject, the input and the parent are part of the action; name, label, reason and trace are not', async () => {
  const { reeve, agent, other } = await ruledReeve(ASK)
  const parent = (await agent.spawn({ kind: 'external', spec: { description: 'x' } })).record.pid
  const hashOf = async (spawned: ReturnType<typeof agent.spawn>) => {
    const { pid } = (await spawned).record
    const found = (await pendingIn(reeve)).find((approval) => approval.pid === pid)
    return found?.request.type === 'permission' ? found.request.actionHash : undefined
  }
  const first = await hashOf(agent.spawn(tool('deploy', 'a')))
  const same = [
    agent.spawn({ ...tool('deploy', 'a'), name: 'n', label: 'l', reason: 'because' }),
    agent.spawn({ ...tool('deploy', 'a'), causedBy: { traceparent: 'x' } }),
  ]
  for (const spawned of same) expect(await hashOf(spawned)).toBe(first)
  const others = [
    await hashOf(agent.spawn(tool('deploy', 'b'))),
    await hashOf(agent.spawn({ ...tool('deploy', 'a'), parent })),
    await hashOf(reeve.as(`process:${parent}`).spawn({ ...tool('deploy', 'a'), parent })),
    await hashOf(other.spawn(tool('deploy', 'a'))),
  ]
  expect(new Set([first, ...others]).size).toBe(5)
})

test('what the host starts is not bound, and what a session starts below it is', async () => {
  const { reeve, ran } = await ruledReeve(ASK)
  expect(await runs(reeve, tool('deploy'))).toBe('completed')
  const relayed = await reeve.as('session:s1').spawn({
    kind: 'tool',
    spec: { tool: 'relay', input: { depth: 10, tool: 'deploy' } },
  })
  const waited = await reeve.wait({ pid: relayed.record.pid, timeoutMs: 30_000 })
  expect(waited).toMatchObject({ record: { outcome: { status: 'completed', result: 'waiting' } } })
  expect((await onlyPending(reeve)).request).toMatchObject({ subject: 'session:s1' })
  expect(ran).toEqual(['deploy'])
})

test('an edit by an actor that may not answer is refused as its yes is, for any edit', async () => {
  const { reeve, agent, other, ran } = await ruledReeve(ASK)
  await agent.spawn(tool('deploy'))
  const { id } = await onlyPending(reeve)
  for (const one of [agent, other])
    for (const spec of [{ tool: 'deploy' }, { tool: 'build' }, { argv: ['true'] }, {}])
      expect(await codeOf(one.approve({ id, spec }))).toBe('denied')
  expect((await onlyPending(reeve)).id).toBe(id)
  expect(ran).toEqual([])
})

test('an agent that tries to change rules, to trust a file or to shorten the audit is in the audit', async () => {
  const { reeve, agent } = await ruledReeve(ASK)
  const attempts = {
    addRule: agent.addRule({ rule: { effect: 'allow', resource: 'tool:**' } }),
    removeRule: agent.removeRule({ id: 'r1' }),
    setPreset: agent.setPreset({ preset: 'full' }),
    clearRules: agent.clearRules({}),
    trustPolicy: agent.trustPolicy({ folder: '/nowhere', hash: null }),
    forgetPolicy: agent.forgetPolicy({ folder: '/nowhere' }),
    pruneAudit: agent.pruneAudit({ keep: 0 }),
    delegate: agent.delegateRule({
      to: { type: 'session', session: 's2' },
      rule: { effect: 'allow', resource: 'tool:deploy' },
    }),
  }
  for (const attempt of Object.values(attempts)) expect(await codeOf(attempt)).toBe('denied')
  const { entries } = await reeve.audit({ actor: 'session:s1', decision: 'denied', oldestFirst: true })
  const actions = entries.flatMap((entry) => (entry.type === 'entry' ? [entry.action] : []))
  expect(actions.sort()).toEqual(Object.keys(attempts).sort())
})
