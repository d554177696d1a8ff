import { embed } from 'reeve'
import { MemoryTables, openMemory, testEdges } from 'reeve/testing'
import { expect, onTestFinished, test } from 'vitest'
import {
  endSession,
  endTurn,
  markDeleted,
  openSession,
  openTurn,
  touchSession,
} from '../../src/kernel/sessions.ts'
import type { Store } from '../../src/store/contract.ts'
import { tempStore } from '../temp-folder.ts'

const OUTSIDE = { kind: 'external', spec: { description: 'x' } } as const

async function opened() {
  const reeve = await embed({ store: tempStore() })
  onTestFinished(() => reeve.close())
  await reeve.openSession({ session: 's1' })
  return reeve
}

test('a process with the lifetime session cannot be moved to an owner that never ends it', async () => {
  const reeve = await opened()
  const { record } = await reeve.spawn({ ...OUTSIDE, owner: { session: 's1' } })
  expect(record.lifetime).toBe('session')
  const { pid } = record
  await expect(reeve.changeOwner({ pid, owner: { toolCall: 't' } })).rejects.toMatchObject({
    code: 'lifetime_without_scope',
  })
  await expect(reeve.changeOwner({ pid, owner: { session: 'nowhere' } })).rejects.toMatchObject({
    code: 'session_unknown',
  })
  const elsewhere = { session: 's1', turn: 'no such turn' }
  await expect(reeve.changeOwner({ pid, owner: elsewhere })).rejects.toMatchObject({ code: 'turn_unknown' })
  expect((await reeve.show({ pid })).owner).toEqual({ session: 's1' })
})

test('a session may not give its process to another', async () => {
  const reeve = await opened()
  await reeve.openSession({ session: 's2' })
  const one = reeve.as('session:s1')
  const { record } = await one.spawn(OUTSIDE)
  const given = one.changeOwner({ pid: record.pid, owner: { session: 's2' } })
  await expect(given).rejects.toMatchObject({ code: 'denied' })
})

test('a late notice for a deleted session does not reach a new session of that name', async () => {
  const reeve = await opened()
  const { record } = await reeve.spawn({ ...OUTSIDE, owner: { session: 's1' }, lifetime: 'detached' })
  await reeve.deleteSession({ session: 's1' })
  await reeve.end({ pid: record.pid, status: 'completed', replayKey: 'e' })
  await reeve.openSession({ session: 's1' })
  expect((await reeve.notices({ scope: 'session:s1' })).notices).toEqual([])
})

test('a session finds its own process by name after other sessions used the name often', async () => {
  const reeve = await opened()
  const { record } = await reeve.as('session:s1').spawn({ ...OUTSIDE, name: 'web' })
  for (let count = 0; count < 60; count++) await reeve.spawn({ ...OUTSIDE, name: 'web' })
  expect((await reeve.as('session:s1').show({ pid: 'web' })).pid).toBe(record.pid)
})

test('closing twice, or twice at once, closes once', async () => {
  const reeve = await embed({
    store: tempStore(),
    tools: { slow: ({ abortSignal: signal }) => new Promise(() => signal.aborted) },
  })
  const { record } = await reeve.spawn({ kind: 'tool', spec: { tool: 'slow' }, recovery: 'rerunnable' })
  expect(record.status).toBe('running')
  await Promise.all([reeve.close(), reeve.close()])
  await reeve.close()
  await expect(reeve.show({ pid: record.pid })).rejects.toMatchObject({ code: 'closed' })
})

test('a session that is touched, ended or has a turn reads no rules: only its deletion does', async () => {
  const store = await openMemory({ shared: new MemoryTables() })
  const asked = new Set<string>()
  const noting: Store = {
    durability: store.durability,
    blobs: store.blobs,
    ask: (question) => store.ask(question),
    onCommit: (listener) => store.onCommit(listener),
    close: () => store.close(),
    write: (plan) =>
      store.write(function* () {
        const steps = plan()
        let step = steps.next([])
        while (!step.done) {
          for (const { ask } of step.value) asked.add(ask)
          step = steps.next(yield step.value)
        }
        return step.value
      }),
  }
  const edges = testEdges(noting)
  await openSession(edges, 'host', 's1', null)
  await touchSession(edges, 'session:s1', 's1')
  await openTurn(edges, 'session:s1', { session: 's1', turn: 't1' })
  await endTurn(edges, 'session:s1', { session: 's1', turn: 't1' })
  await endSession(edges, 'session:s1', 's1')
  expect([asked.has('session'), asked.has('ruleSet')]).toEqual([true, false])
  await markDeleted(edges, 'session:s1', 's1')
  expect(asked.has('ruleSet')).toBe(true)
})
