import { expect, test } from 'vitest'
import { codeOf, ruledReeve } from './ruled-reeve.ts'

/** Signals and messages to processes of others: a rule that names them allows what ownership does not. */

const OUTSIDE = { kind: 'external', spec: { description: 'x' } } as const
const toProcess = (pid: string) => ({ type: 'process', pid }) as const
const S1 = { type: 'session', session: 's1' } as const

/** A process of each session, and one below the second. */
async function strangers() {
  const { reeve, agent, other } = await ruledReeve()
  const own = (await agent.spawn(OUTSIDE)).record.pid
  const foreign = (await other.spawn(OUTSIDE)).record.pid
  const below = (await other.spawn({ ...OUTSIDE, parent: foreign })).record.pid
  return { reeve, agent, other, own, foreign, below, sender: reeve.as(`process:${own}`) }
}

test('an allow of a process lets a session and a process signal it, and no process below it', async () => {
  const { reeve, agent, sender, own, foreign, below } = await strangers()
  for (const actor of [agent, sender])
    expect(await codeOf(actor.signal({ pid: foreign, signal: 'cancel' }))).toBe('denied')
  const allow = { effect: 'allow', resource: `process:${foreign}`, rights: ['signal'] }
  await reeve.addRule({ to: S1, rule: allow })
  expect(await codeOf(agent.signal({ pid: below, signal: 'cancel' }))).toBe('denied')
  expect(await codeOf(sender.signal({ pid: foreign, signal: 'cancel' }))).toMatch(/^accepted/)
  expect((await reeve.show({ pid: foreign })).status).toBe('stopping')
  const { entries } = await reeve.audit({ decision: 'allowed' })
  expect(entries).toContainEqual(
    expect.objectContaining({
      actor: `process:${own}`,
      target: `process:${foreign}`,
      rule: expect.objectContaining({ subject: 'session:s1' }),
    }),
  )
})

test('an allow of a tree covers what is below, one of a session its processes, and a deny wins', async () => {
  const { reeve, agent, foreign, below } = await strangers()
  const tree = { effect: 'allow', resource: `process:${foreign}/tree`, rights: ['signal'] }
  const { id } = await reeve.addRule({ to: S1, rule: tree })
  expect(await codeOf(agent.signal({ pid: below, signal: 'cancel' }))).toMatch(/^accepted/)
  await reeve.removeRule({ id, from: S1 })
  expect(await codeOf(agent.kill({ pid: foreign, graceMs: 0 }))).toBe('denied')
  await reeve.addRule({ to: S1, rule: { effect: 'allow', resource: 'session:s2', rights: ['signal'] } })
  await reeve.addRule({ to: S1, rule: { effect: 'deny', resource: `process:${below}`, rights: ['signal'] } })
  expect(await codeOf(agent.signal({ pid: below, signal: 'cancel' }))).toBe('denied')
  expect(await codeOf(agent.signal({ pid: foreign, signal: 'cancel' }))).toMatch(/^accepted/)
})

test('a right to signal gives none to read, to write or to own', async () => {
  const { reeve, agent, foreign, sender } = await strangers()
  await reeve.addRule({
    to: S1,
    rule: { effect: 'allow', resource: `process:${foreign}`, rights: ['signal'] },
  })
  expect(await codeOf(agent.show({ pid: foreign }))).toBe('denied')
  expect(await codeOf(agent.changeOwner({ pid: foreign, owner: { session: 's1' } }))).toBe('denied')
  expect(await codeOf(agent.spawn({ ...OUTSIDE, parent: foreign }))).toBe('denied')
  expect(await codeOf(sender.sendMessage({ to: `process:${foreign}`, value: 1 }))).toBe('denied')
})

test('what no rule names, a preset, an ask and a ceiling leave to ownership', async () => {
  const { reeve, agent, foreign, own } = await strangers()
  await reeve.setPreset({ to: S1, preset: 'full' })
  expect(await codeOf(agent.signal({ pid: foreign, signal: 'cancel' }))).toBe('denied')
  expect(await codeOf(agent.signal({ pid: own, signal: 'cancel' }))).toMatch(/^accepted/)
  const allow = { effect: 'allow', resource: 'process:**', rights: ['signal', 'write'] }
  const ceiling = { rules: [{ effect: 'allow', resource: 'tool:build' }] }
  const held = (await reeve.spawn({ ...OUTSIDE, owner: { session: 's1' }, ceiling })).record.pid
  await reeve.addRule({ to: S1, rule: allow })
  const bound = reeve.as(`process:${held}`)
  expect(await codeOf(bound.signal({ pid: foreign, signal: 'cancel' }))).toBe('denied')
  expect(await codeOf(bound.sendMessage({ to: `process:${foreign}`, value: 1 }))).toBe('denied')
})

test('a message reaches the process that an allow names, and no longer once the allow is gone', async () => {
  const { reeve, sender, foreign, below, own } = await strangers()
  const to = `process:${foreign}` as const
  expect(await codeOf(sender.sendMessage({ to, value: 1 }))).toBe('denied')
  const rule = { effect: 'allow', resource: to, rights: ['write'] }
  const { id } = await reeve.addRule({ to: toProcess(own), rule })
  expect(await codeOf(sender.sendMessage({ to, value: 2 }))).toBe('accepted: done')
  expect(await codeOf(sender.sendMessage({ to: `process:${below}`, value: 3 }))).toBe('denied')
  await reeve.removeRule({ id, from: toProcess(own) })
  expect(await codeOf(sender.sendMessage({ to, value: 4 }))).toBe('denied')
  const { notices } = await reeve.notices({ scope: to })
  expect(notices.map(({ payload }) => Object(payload).value)).toEqual([2])
})

test('a delegated allow stops counting for messages when its link is removed', async () => {
  const { reeve, agent, sender, foreign, own } = await strangers()
  const to = `process:${foreign}` as const
  const given = { effect: 'allow', resource: to, rights: ['write'], delegable: { depth: 1 } }
  const { id } = await reeve.addRule({ to: S1, rule: given })
  await agent.delegateRule({ to: toProcess(own), rule: { effect: 'allow', resource: to, rights: ['write'] } })
  expect(await codeOf(sender.sendMessage({ to, value: 1 }))).toBe('accepted: done')
  await reeve.removeRule({ id, from: S1 })
  expect(await codeOf(sender.sendMessage({ to, value: 2 }))).toBe('denied')
})

test('a deny refuses messages that ownership allows, and a refused one says nothing about its addressee', async () => {
  const { reeve, sender, agent, own } = await strangers()
  const child = (await agent.spawn({ ...OUTSIDE, parent: own })).record.pid
  for (const to of [`process:${child}`, 'human:host'] as const) {
    expect(await codeOf(sender.sendMessage({ to, value: 1 }))).toBe('accepted: done')
    await reeve.addRule({ to: S1, rule: { effect: 'deny', resource: to, rights: ['write'] } })
    expect(await codeOf(sender.sendMessage({ to, value: 2 }))).toBe('denied')
  }
  const said = async (to: `session:${string}`) => {
    const error: unknown = await sender.sendMessage({ to, value: 1 }).catch((thrown: unknown) => thrown)
    return String(error).replaceAll(to, '…')
  }
  expect(await said('session:s2')).toBe(await said('session:absent'))
})
