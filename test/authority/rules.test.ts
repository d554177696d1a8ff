import { expect, test } from 'vitest'
import { codeOf, onlyPending, pendingIn, ruledReeve, runs, tool } from './ruled-reeve.ts'

/** Attacks on rules: no narrower rule, no batch, no move and no new session leads past one. */

const OUTSIDE = { kind: 'external', spec: { description: 'x' } } as const
const inSession = (session: string) => ({ type: 'session', session }) as const

test('a deny beats a narrower allow', async () => {
  const { agent, ran } = await ruledReeve(
    { effect: 'deny', resource: 'tool:*' },
    { effect: 'allow', resource: 'tool:deploy' },
  )
  expect(await codeOf(agent.spawn(tool('deploy')))).toBe('denied')
  expect(ran).toEqual([])
})

test('a deny of the home beats an allow of the session, and an allow of the home no deny of the session', async () => {
  const { reeve, agent, other } = await ruledReeve(
    { effect: 'deny', resource: 'tool:deploy' },
    { effect: 'allow', resource: 'tool:*' },
  )
  await reeve.addRule({ to: inSession('s1'), rule: { effect: 'allow', resource: 'tool:deploy' } })
  await reeve.addRule({ to: inSession('s2'), rule: { effect: 'deny', resource: 'tool:build' } })
  expect(await codeOf(agent.spawn(tool('deploy')))).toBe('denied')
  expect(await codeOf(other.spawn(tool('build')))).toBe('denied')
})

test('an allow for one tool is none for a tool whose name begins with its name', async () => {
  const { agent, ran } = await ruledReeve({ effect: 'allow', resource: 'tool:deploy' })
  expect(await runs(agent, tool('deploy'))).toBe('completed')
  expect(await codeOf(agent.spawn(tool('deploy2')))).toBe('denied')
  expect(ran).toEqual(['deploy'])
})

test('an allow closes the set for every kind of process', async () => {
  const { agent } = await ruledReeve({ effect: 'allow', resource: 'tool:deploy' })
  for (const request of [
    { kind: 'workflow', spec: { workflow: 'deploy' } },
    { kind: 'agent', spec: { agent: 'deploy' } },
    { kind: 'command', spec: { run: 'deploy' } },
  ] as const)
    expect(await codeOf(agent.spawn(request)), request.kind).toBe('denied')
})

test('the last use is spent once by a batch that would need two', async () => {
  const { agent, ran } = await ruledReeve({ effect: 'allow', resource: 'tool:deploy', uses: 1 })
  expect(await codeOf(agent.spawnMany({ processes: [tool('deploy'), tool('deploy')] }))).toBe('denied')
  expect(ran).toEqual([])
  expect(await runs(agent, tool('deploy'))).toBe('completed')
  expect(await codeOf(agent.spawn(tool('deploy')))).toBe('denied')
})

test('a batch spends as many uses as it has requests', async () => {
  const { agent } = await ruledReeve({ effect: 'allow', resource: 'tool:deploy', uses: 3 })
  await agent.spawnMany({ processes: [tool('deploy'), tool('deploy')] })
  expect(await codeOf(agent.spawnMany({ processes: [tool('deploy'), tool('deploy')] }))).toBe('denied')
  expect(await runs(agent, tool('deploy'))).toBe('completed')
  expect(await codeOf(agent.spawn(tool('deploy')))).toBe('denied')
})

test('a stopped and a repeated request give no use back, and a refused one takes none', async () => {
  const { agent, ran } = await ruledReeve({ effect: 'allow', resource: 'tool:*', uses: 2 })
  const unserved = { ...tool('absent'), idempotencyKey: 'k' }
  const { pid } = (await agent.spawn(unserved)).record
  await agent.kill({ pid })
  expect(await agent.spawn(unserved)).toMatchObject({ type: 'existing' })
  const command = { kind: 'command', spec: { run: 'deploy' } } as const
  expect(await codeOf(agent.spawnMany({ processes: [tool('deploy'), command] }))).toBe('denied')
  expect(await runs(agent, tool('deploy'))).toBe('completed')
  expect(await codeOf(agent.spawn(tool('deploy')))).toBe('denied')
  expect(ran).toEqual(['deploy'])
})

test('a removed allow with uses left is gone at once', async () => {
  const rule = { id: 'once', effect: 'allow', resource: 'tool:deploy', uses: 1 }
  const { reeve, agent } = await ruledReeve(rule, { effect: 'allow', resource: 'tool:build' })
  expect(await runs(agent, tool('deploy'))).toBe('completed')
  await reeve.removeRule({ id: 'once' })
  expect(await codeOf(agent.spawn(tool('deploy')))).toBe('denied')
})

test('a removed allow leaves its set closed', async () => {
  const { reeve, agent } = await ruledReeve({ id: 'only', effect: 'allow', resource: 'tool:deploy' })
  await reeve.removeRule({ id: 'only' })
  for (const name of ['deploy', 'build']) expect(await codeOf(agent.spawn(tool(name)))).toBe('denied')
})

test('a rule that is added stops the next act of a process that runs already', async () => {
  const { reeve, agent } = await ruledReeve({ effect: 'ask', resource: 'tool:other' })
  const { pid } = (await agent.spawn(OUTSIDE)).record
  const child = (await agent.spawn({ ...OUTSIDE, parent: pid })).record.pid
  const grandchild = reeve.as(`process:${child}`)
  expect(await runs(grandchild, { ...tool('build'), parent: child })).toBe('completed')
  await reeve.addRule({ to: inSession('s1'), rule: { effect: 'deny', resource: 'tool:build' } })
  expect(await codeOf(grandchild.spawn({ ...tool('build'), parent: child }))).toBe('denied')
})

test('a ceiling holds in the tenth generation, and a wider one below it changes nothing', async () => {
  const { reeve, agent, ran } = await ruledReeve()
  const allow = (resource: string) => ({ rules: [{ effect: 'allow', resource, rights: ['execute'] }] })
  let parent = (await agent.spawn({ ...OUTSIDE, ceiling: allow('tool:build') })).record.pid
  for (let generation = 2; generation <= 10; generation++) {
    const below = reeve.as(`process:${parent}`)
    parent = (await below.spawn({ ...OUTSIDE, parent, ceiling: allow('tool:*') })).record.pid
  }
  const last = reeve.as(`process:${parent}`)
  expect(await codeOf(last.spawn({ ...tool('deploy'), parent }))).toBe('denied')
  expect(await codeOf(agent.spawn({ ...tool('deploy'), parent }))).toBe('denied')
  expect(await runs(last, { ...tool('build'), parent })).toBe('completed')
  expect(ran).toEqual(['build'])
})

test('a ceiling binds effects without a registration, and rules are explained with it', async () => {
  const { reeve, agent } = await ruledReeve(
    { effect: 'allow', resource: 'image:*', rights: ['write'] },
    { effect: 'allow', resource: 'tool:*', rights: ['execute'] },
  )
  const ceiling = { rules: [{ effect: 'allow', resource: 'tool:build', rights: ['execute'] }] }
  const { pid } = (await agent.spawn({ ...OUTSIDE, ceiling })).record
  const child = (await reeve.as(`process:${pid}`).spawn({ ...OUTSIDE, parent: pid })).record.pid
  for (const below of [pid, child]) {
    const explained = (resource: string) =>
      reeve.explainRules({ what: { type: 'resource', resource }, subject: { type: 'process', pid: below } })
    expect(await explained('execute tool:deploy')).toMatchObject({
      ruling: { type: 'deny', reason: expect.stringContaining(`No rule of ceiling:${pid} allows`) },
    })
    expect(await explained('execute tool:build')).toMatchObject({ ruling: { type: 'allow' } })
    const image = { name: 'mine', system: 'x' }
    expect(await codeOf(reeve.as(`process:${below}`).registerImage({ image }))).toBe('denied')
  }
  expect(await codeOf(agent.registerImage({ image: { name: 'mine', system: 'x' } }))).toBe('accepted: done')
})

test('a process does not leave the rules of its session by another owner', async () => {
  const { reeve, agent, ran } = await ruledReeve()
  await reeve.addRule({ to: inSession('s1'), rule: { effect: 'deny', resource: 'tool:deploy' } })
  const { pid } = (await agent.spawn(OUTSIDE)).record
  const process = reeve.as(`process:${pid}`)
  for (const actor of [agent, process])
    for (const owner of [{}, { session: 's2' }])
      expect(await codeOf(actor.changeOwner({ pid, owner })), JSON.stringify(owner)).toBe('denied')
  expect(await codeOf(process.spawn({ ...tool('deploy'), parent: pid }))).toBe('denied')
  for (const owner of [{ session: 's2' }, {}])
    expect(await codeOf(agent.spawn({ ...tool('deploy'), owner })), JSON.stringify(owner)).toBe('denied')
  expect(ran).toEqual([])
})

test('a parent in another session is no way out of the rules', async () => {
  const { reeve, agent, other, ran } = await ruledReeve()
  await reeve.addRule({ to: inSession('s1'), rule: { effect: 'deny', resource: 'tool:deploy' } })
  const parent = (await other.spawn(OUTSIDE)).record.pid
  expect(await codeOf(agent.spawn({ ...tool('deploy'), parent }))).toBe('denied')
  expect(await codeOf(agent.spawn({ ...tool('deploy'), parent, owner: { session: 's2' } }))).toBe('denied')
  expect(ran).toEqual([])
})

test('a session that deletes itself and opens again keeps its rules', async () => {
  const { reeve, agent, ran } = await ruledReeve()
  await reeve.addRule({ to: inSession('s1'), rule: { effect: 'deny', resource: 'tool:deploy' } })
  expect(await codeOf(agent.deleteSession({ session: 's1' }))).toBe('denied')
  await agent.endSession({ session: 's1' })
  await agent.openSession({ session: 's1' }).catch(() => undefined)
  expect(await codeOf(agent.spawn(tool('deploy')))).toMatch(/^(denied|session_ended)$/)
  expect(ran).toEqual([])
})

test('a session without rules may still delete itself', async () => {
  const { agent } = await ruledReeve()
  expect(await codeOf(agent.deleteSession({ session: 's1' }))).toBe('accepted: done')
})

test('a session that opens another one does not act in it', async () => {
  const { agent, ran } = await ruledReeve({ effect: 'ask', resource: 'tool:deploy' })
  await agent.openSession({ session: 'mine' }).catch(() => undefined)
  expect(await codeOf(agent.spawn({ ...tool('deploy'), owner: { session: 'mine' } }))).toBe('denied')
  expect(ran).toEqual([])
})

test('a tool that runs for the host starts what it likes, and the same tool of a session does not', async () => {
  const { reeve, agent, ran } = await ruledReeve({ effect: 'deny', resource: 'tool:deploy' })
  const relay = { kind: 'tool', spec: { tool: 'relay', input: { depth: 0, tool: 'deploy' } } } as const
  expect(await runs(reeve, relay)).toBe('completed')
  expect(await runs(agent, relay)).toBe('failed')
  expect(await pendingIn(reeve)).toEqual([])
  await expect.poll(() => ran).toEqual(['deploy'])
})

test('no session and no process changes rules, reads them, or reads the audit', async () => {
  const { reeve, agent } = await ruledReeve({ id: 'asked', effect: 'ask', resource: 'tool:deploy' })
  const { pid } = (await agent.spawn(OUTSIDE)).record
  for (const actor of [agent, reeve.as(`process:${pid}`)])
    for (const act of [
      () => actor.addRule({ rule: { effect: 'allow', resource: 'tool:*' } }),
      () => actor.addRule({ to: inSession('s1'), rule: { effect: 'allow', resource: 'tool:*' } }),
      () => actor.removeRule({ id: 'asked' }),
      () => actor.policies(),
      () => actor.audit(),
    ])
      expect(await codeOf(act()), String(act)).toBe('denied')
})

test('a session with the right to approve lists and reads what it may answer, and nothing else', async () => {
  const { reeve, agent, other } = await ruledReeve({ effect: 'ask', resource: 'tool:*' })
  const own = (await agent.spawn(tool('deploy'))).record.gate?.approval ?? ''
  const hosts = (await reeve.spawn({ ...OUTSIDE })).record.pid
  await reeve.ask({ question: 'Who?' })
  const listed = async () => (await other.approvals({})).approvals.map(({ id }) => id)
  expect(await listed()).toEqual([])
  expect(await codeOf(other.approval({ id: own }))).toBe('approval_unknown')
  const rule = { effect: 'allow', resource: 'session:s1', rights: ['approve'] }
  await reeve.addRule({ to: inSession('s2'), rule })
  expect(await listed()).toEqual([own])
  expect((await other.approval({ id: own })).approval.id).toBe(own)
  expect(await codeOf(other.show({ pid: hosts }))).toBe('denied')
  expect(await codeOf(other.approve({ id: own }))).toBe('accepted: done')
})

test('the right to approve gives a session no answer to its own request, and none to that of its processes', async () => {
  const { reeve, agent, other } = await ruledReeve({ effect: 'ask', resource: 'tool:deploy' })
  const rule = { effect: 'allow', resource: 'session:s1', rights: ['approve'] }
  await reeve.addRule({ to: inSession('s1'), rule })
  const { pid } = (await agent.spawn(OUTSIDE)).record
  await reeve.addRule({ to: inSession('s1'), rule: { effect: 'allow', resource: 'tool:*' } })
  await agent.spawn({ ...tool('deploy'), parent: pid })
  const { id } = await onlyPending(reeve)
  expect(await codeOf(agent.approve({ id }))).toBe('denied')
  expect(await codeOf(reeve.as(`process:${pid}`).approve({ id }))).toBe('denied')
  expect(await codeOf(other.approve({ id }))).toBe('denied')
  await reeve.addRule({ to: inSession('s2'), rule })
  expect(await codeOf(other.approve({ id }))).toBe('accepted: done')
})

test('a rule does not replace another one of the same id', async () => {
  const { reeve, agent } = await ruledReeve({ id: 'one', effect: 'deny', resource: 'tool:deploy' })
  const allow = { id: 'one', effect: 'allow', resource: 'tool:deploy' }
  expect(await codeOf(reeve.addRule({ rule: allow }))).toBe('conflict')
  expect(await codeOf(agent.spawn(tool('deploy')))).toBe('denied')
})

test.each([
  ['a bare star', { effect: 'allow', resource: '*' }],
  ['an unknown right', { effect: 'allow', resource: 'tool:a', rights: ['own'] }],
  ['an unknown constraint', { effect: 'allow', resource: 'tool:a', constraints: { mood: 'good' } }],
  ['an unknown kind', { effect: 'allow', resource: 'socket:a' }],
  ['an unknown effect', { effect: 'permit', resource: 'tool:a' }],
  ['an unknown member', { effect: 'deny', resource: 'tool:a', unless: 'friday' }],
  ['a delegation without a delegator', { effect: 'allow', resource: 'tool:a', delegatedFrom: [] }],
  ['a preset that it does not come from', { effect: 'allow', resource: 'tool:a', preset: 'full' }],
  ['an answer that no person gave', { effect: 'allow', resource: 'tool:a', settles: [] }],
])('%s is refused, and no rule is stored', async (_, rule) => {
  const { reeve } = await ruledReeve()
  const { rules } = await reeve.policies()
  expect(await codeOf(reeve.addRule({ rule }))).toBe('invalid_rule')
  expect((await reeve.policies()).rules).toEqual(rules)
})

test('a denial tells an agent the rule and nothing of what it asked about', async () => {
  const { agent } = await ruledReeve({ effect: 'deny', resource: 'tool:*', justification: 'Not here.' })
  const said = async (name: string) => {
    const error = await agent.spawn(tool(name)).catch((one: unknown) => one as Error)
    return error instanceof Error ? error.message : ''
  }
  expect(await said('deploy')).toContain('Not here.')
  expect(await said('deploy')).toBe(await said('absent'))
})
