import { DatabaseSync } from 'node:sqlite'
import type { OutputOf, Reeve } from 'reeve'
import { expect, test } from 'vitest'
import { embedTemp } from '../embed-temp.ts'
import { tempStore } from '../temp-folder.ts'

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const SECRET = `ghp_${'k3J9'.repeat(9)}`

async function external(reeve: Reeve): Promise<string> {
  const { record } = await reeve.spawn({ kind: 'external', spec: { description: 'x' } })
  return record.pid
}

/** The entries in order, without their places and without those of a preset that every session gets. */
async function entries(reeve: Reeve) {
  const { entries: all } = await reeve.audit({ oldestFirst: true })
  const found = all.filter((entry) => entry.type === 'unreadable' || entry.action !== 'setPreset')
  return found.map((entry) => {
    if (entry.type === 'unreadable') throw new Error(`Entry ${entry.position} is unreadable`)
    const { position: _, hash: __, at: ___, type: ____, ...rest } = entry
    return rest
  })
}

/** How many entries a preset of the two sessions has made, before all others. */
async function presets(reeve: Reeve): Promise<number> {
  const { entries: found } = await reeve.audit({ oldestFirst: true, limit: 2 })
  return found.filter((entry) => entry.type === 'entry' && entry.action === 'setPreset').length
}

async function withSessions(store = tempStore()): Promise<Reeve> {
  const reeve = await embedTemp({ store })
  for (const session of ['s1', 's2']) await reeve.openSession({ session })
  return reeve
}

test('grants, revocations and transfers are entries, with their reason and trace', async () => {
  const reeve = await withSessions()
  const pid = await external(reeve)
  await reeve.grant({ session: 's1', pids: [pid], reason: `review ${SECRET}` }, { trace: TRACE })
  await reeve.transferGrants({ from: 's1', to: 's2', pids: [pid] }, { trace: 'none of W3C' })
  await reeve.revoke({ session: 's2', pids: [pid], reason: 'done' })
  await reeve.revoke({ session: 's2', pids: [pid], reason: 'nothing is left to revoke' })
  const common = { actor: 'host', target: `process:${pid}`, rule: null, trace: null, reason: null }
  expect(await entries(reeve)).toEqual([
    {
      ...common,
      action: 'grant',
      decision: 'granted',
      reason: `review ghp_${'*'.repeat(36)}`,
      inputs: { session: 's1' },
      trace: TRACE,
    },
    { ...common, action: 'revoke', decision: 'revoked', inputs: { session: 's1', transferredTo: 's2' } },
    { ...common, action: 'grant', decision: 'granted', inputs: { session: 's2', transferredFrom: 's1' } },
    { ...common, action: 'revoke', decision: 'revoked', reason: 'done', inputs: { session: 's2' } },
  ])
  expect(await reeve.verifyAudit()).toMatchObject({
    type: 'sound',
    position: 4 + (await presets(reeve)),
    anchors: 0,
  })
})

test('a grant that is refused leaves no entry, but one that is denied does, and a registration leaves none', async () => {
  const reeve = await withSessions()
  const pid = await external(reeve)
  await expect(reeve.grant({ session: 's9', pids: [pid] })).rejects.toMatchObject({ code: 'session_unknown' })
  await expect(reeve.as('session:s1').grant({ session: 's1', pids: [pid] })).rejects.toMatchObject({
    code: 'denied',
  })
  expect(await entries(reeve)).toMatchObject([
    { actor: 'session:s1', action: 'grant', target: `process:${pid}`, decision: 'denied', rule: null },
  ])
})

test('a reveal is an entry while the process lives, and after its end', async () => {
  const reeve = await withSessions()
  const [live, ended] = [await external(reeve), await external(reeve)]
  await reeve.end({ pid: ended, status: 'completed', replayKey: 'e' })
  await reeve.show({ pid: live, reveal: true }, { trace: TRACE })
  await reeve.show({ pid: live, reveal: true })
  await reeve.events({ pid: ended, reveal: true })
  const common = { actor: 'host', action: 'reveal', decision: 'revealed', rule: null, reason: null }
  expect(await entries(reeve)).toEqual([
    { ...common, target: `process:${live}`, inputs: { verb: 'show' }, trace: TRACE },
    { ...common, target: `process:${ended}`, inputs: { verb: 'events' }, trace: null },
  ])
  const types = async (pid: string) => (await reeve.events({ pid })).events.map(({ type }) => type)
  expect(await types(live)).toContain('revealed')
  expect(await types(ended)).not.toContain('revealed')
})

test('an agent that asks for secrets in a loop makes one entry', async () => {
  const reeve = await withSessions()
  const { record } = await reeve.spawn({
    kind: 'external',
    spec: { description: 'x' },
    owner: { session: 's1' },
  })
  const agent = reeve.as('session:s1')
  for (let count = 0; count < 100; count++)
    await expect(agent.show({ pid: record.pid, reveal: true })).rejects.toMatchObject({ code: 'denied' })
  expect(await entries(reeve)).toEqual([
    {
      actor: 'session:s1',
      action: 'reveal',
      target: 'store',
      decision: 'denied',
      rule: null,
      reason: 'session:s1 may not see secrets.',
      inputs: { verb: 'show' },
      trace: null,
    },
  ])
})

test('the audit is read in pages with filters, the newest first, and only by the host', async () => {
  const reeve = await withSessions()
  const pids = [await external(reeve), await external(reeve), await external(reeve)]
  await reeve.grant({ session: 's1', pids })
  await reeve.revoke({ session: 's1', pids: pids.slice(1) })
  const before = await presets(reeve)
  const positions = ({ entries: found }: OutputOf<'audit'>) => found.map(({ position }) => position - before)
  const first = await reeve.audit({ limit: 3 })
  expect(positions(first)).toEqual([5, 4, 3])
  expect(positions(await reeve.audit({ limit: 2, after: first.next ?? 0 }))).toEqual([2, 1])
  expect(positions(await reeve.audit({ oldestFirst: true, after: before + 2 }))).toEqual([3, 4, 5])
  expect(positions(await reeve.audit({ decision: 'revoked' }))).toEqual([5, 4])
  expect(positions(await reeve.audit({ target: `process:${pids[1]}` }))).toEqual([4, 2])
  expect(positions(await reeve.audit({ actor: 'session:s1' }))).toEqual([])
  expect(positions(await reeve.audit({ since: Date.now() + 60_000 }))).toEqual([])
  const agent = reeve.as('session:s1')
  await expect(agent.audit()).rejects.toMatchObject({ code: 'denied' })
  await expect(agent.verifyAudit()).rejects.toMatchObject({ code: 'denied' })
})

test('without anchors, the end that the store notes reveals a cut, and a start that Reeve has not signed is not accepted', async () => {
  const file = tempStore()
  const reeve = await withSessions(file)
  for (let count = 0; count < 3; count++) await reeve.grant({ session: 's1', pids: [await external(reeve)] })
  const last = 3 + (await presets(reeve))
  const db = new DatabaseSync(file, { timeout: 10_000 })
  db.exec(`delete from audit where position = ${last}`)
  expect(await reeve.verifyAudit()).toEqual({ type: 'broken', from: last, reason: 'cut', anchors: 0 })
  db.exec(`update audit set body = 'nothing' where position = ${last - 1}`)
  expect(await reeve.verifyAudit()).toMatchObject({ type: 'broken', from: last - 1, reason: 'changed' })
  expect((await reeve.audit({ limit: 2 })).entries.map(({ type, position }) => [type, position])).toEqual([
    ['unreadable', last - 1],
    ['entry', last - 2],
  ])
  db.exec(`delete from audit where position < ${last}`)
  db.exec(
    `update meta set audit_start = json_object('position', ${last}, 'hash', audit_hash, 'signature', 'forged')`,
  )
  expect(await reeve.verifyAudit()).toMatchObject({ type: 'broken', from: 1, reason: 'unsigned' })
  db.close()
})
