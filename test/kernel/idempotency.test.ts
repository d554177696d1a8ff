import { createHash } from 'node:crypto'
import { embed } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { pidFrom } from '../../src/core/process/pid.ts'
import { tempStore } from '../temp-folder.ts'

const OUTSIDE = { kind: 'external', spec: { description: 'x' } } as const

async function opened(sessions: readonly string[], store = tempStore()) {
  const reeve = await embed({ store })
  onTestFinished(() => reeve.close())
  for (const session of sessions) await reeve.openSession({ session })
  return reeve
}

/** The pid of a key as version 0.1 worked it out. */
function formerPid(actor: string, key: string): string {
  return pidFrom(createHash('sha256').update(`${actor} ${key}`).digest())
}

test('a session cannot register the pid of another session’s idempotency key beforehand', async () => {
  const reeve = await opened(['victim', 'thief'])
  const pid = formerPid('session:victim', 'deploy')
  await reeve.as('session:thief').spawn({ ...OUTSIDE, pid })
  const { type, record } = await reeve.as('session:victim').spawn({ ...OUTSIDE, idempotencyKey: 'deploy' })
  expect(type).toBe('registered')
  expect(record.pid).not.toBe(pid)
  expect(record.owner).toEqual({ session: 'victim' })
})

test('keys of sessions whose ids have spaces are distinct', async () => {
  const reeve = await opened(['a', 'a b'])
  const one = await reeve.as('session:a').spawn({ ...OUTSIDE, idempotencyKey: 'b c' })
  const other = await reeve.as('session:a b').spawn({ ...OUTSIDE, idempotencyKey: 'c' })
  expect([one.type, other.type]).toEqual(['registered', 'registered'])
  expect(other.record.owner).toEqual({ session: 'a b' })
})

test('groups of sessions whose ids have spaces are distinct', async () => {
  const reeve = await opened(['a', 'a b'])
  const one = await reeve.as('session:a').spawn({ ...OUTSIDE, group: { id: 'b c', size: 1 } })
  const other = await reeve.as('session:a b').spawn({ ...OUTSIDE, group: { id: 'c', size: 1 } })
  expect([one.type, other.type]).toEqual(['registered', 'registered'])
})

test('a key gives the same process in every kernel of a store', async () => {
  const file = tempStore()
  const first = await opened(['s1'], file)
  const { record } = await first.as('session:s1').spawn({ ...OUTSIDE, idempotencyKey: 'k' })
  const second = await opened([], file)
  const again = await second.as('session:s1').spawn({ ...OUTSIDE, idempotencyKey: 'k' })
  expect(again).toMatchObject({ type: 'existing', record: { pid: record.pid } })
  const other = second.as('session:s1').spawn({ ...OUTSIDE, name: 'other', idempotencyKey: 'k' })
  await expect(other).rejects.toMatchObject({ code: 'conflict' })
})

test('a key of an older version still gives its process', async () => {
  const reeve = await opened(['s1'])
  const session = reeve.as('session:s1')
  const { record } = await session.spawn({ ...OUTSIDE, pid: formerPid('session:s1', 'k') })
  const again = await session.spawn({ ...OUTSIDE, idempotencyKey: 'k' })
  expect(again).toMatchObject({ type: 'existing', record: { pid: record.pid } })
})

test('a restart that is repeated with its key gives the process that it started', async () => {
  const reeve = await opened([])
  const { record } = await reeve.spawn({ ...OUTSIDE, name: 'web' })
  await reeve.end({ pid: record.pid, status: 'completed', replayKey: 'e' })
  const first = await reeve.restart({ pid: 'web', idempotencyKey: 'again' })
  // The name now means the new process, which must live on.
  const repeated = await reeve.restart({ pid: 'web', idempotencyKey: 'again' })
  expect(repeated.record.pid).toBe(first.record.pid)
  expect(first.record).toMatchObject({ restartOf: record.pid, status: repeated.record.status, outcome: null })
  const byPid = await reeve.restart({ pid: record.pid, idempotencyKey: 'again' })
  expect(byPid.record.pid).toBe(first.record.pid)
  expect((await reeve.list({ filter: { name: 'web', status: 'any' } })).processes).toHaveLength(2)
})

test('a key of another process is refused for a restart, and nothing is stopped', async () => {
  const reeve = await opened([])
  const web = await reeve.spawn({ ...OUTSIDE, name: 'web', idempotencyKey: 'start' })
  const refused = reeve.restart({ pid: 'web', idempotencyKey: 'start' })
  await expect(refused).rejects.toMatchObject({ code: 'conflict' })
  expect(await reeve.show({ pid: 'web' })).toEqual(web.record)
})
