import { embed, type ReeveVerbs } from 'reeve'
import { expect, test } from 'vitest'
import { tempStore } from '../temp-folder.ts'

const OUTSIDE = { kind: 'external', spec: { description: 'x' } } as const

async function twoSessions() {
  const reeve = await embed({ store: tempStore() })
  await reeve.openSession({ session: 'mine' })
  await reeve.openSession({ session: 'yours' })
  const owner = { session: 'mine' }
  const eventTypes = { note: { schema: {} } }
  const { record } = await reeve.spawn({ ...OUTSIDE, owner, name: 'web', eventTypes, lifetime: 'daemon' })
  return { reeve, pid: record.pid, mine: reeve.as('session:mine'), yours: reeve.as('session:yours') }
}

const acts = (reeve: ReeveVerbs, pid: string): Record<string, () => Promise<unknown>> => ({
  pause: () => reeve.signal({ pid, signal: 'pause' }),
  cancel: () => reeve.signal({ pid, signal: 'cancel' }),
  kill: () => reeve.signal({ pid, signal: 'kill' }),
  send: () => reeve.send({ pid, name: 'go' }),
  append: () => reeve.append({ events: [{ pid, type: 'note', payload: 1 }] }),
  end: () => reeve.end({ pid, status: 'completed', replayKey: 'e' }),
  abandon: () => reeve.abandon({ pid, reason: 'because' }),
  changeOwner: () => reeve.changeOwner({ pid, owner: { session: 'yours' } }),
  changeCwd: () => reeve.changeCwd({ pid, cwd: '/' }),
  setExternalRef: () => reeve.setExternalRef({ pid, ref: 1 }),
  grant: () => reeve.grant({ session: 'yours', pids: [pid] }),
  revoke: () => reeve.revoke({ session: 'mine', pids: [pid] }),
  'spawn below it': () => reeve.spawn({ ...OUTSIDE, parent: pid }),
  'spawn one’s own below it': () => reeve.spawn({ ...OUTSIDE, parent: pid, owner: { session: 'yours' } }),
  'wake its session': () => reeve.spawn({ ...OUTSIDE, owner: { session: 'yours' }, wakeTarget: 'mine' }),
})

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
    yours.notices({ scope: 'session:mine' }),
    yours.notices({ scope: 'human:host' }),
    yours.takeNotices({ scope: 'human:host', consumer: 'x' }),
    yours.acknowledge({ scope: 'human:host', consumer: 'x', through: 9 }),
    yours.grants({ session: 'mine' }),
    yours.liveCount({ session: 'mine' }),
    yours.liveCount({}),
    yours.sessions({}),
    yours.recover({}),
  ]
  for (const read of reads) await expect(read).rejects.toMatchObject({ code: 'denied' })
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
