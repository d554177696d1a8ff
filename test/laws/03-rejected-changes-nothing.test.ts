import { embed } from 'reeve'
import { openMemory, testEdges } from 'reeve/testing'
import { expect, test } from 'vitest'
import { claim } from '../../src/kernel/claim.ts'
import { perform } from '../../src/kernel/perform.ts'
import { register } from '../../src/kernel/register.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { snapshotOf } from '../../src/testing/conformance/sound.ts'
import { tempStore } from '../temp-folder.ts'
import { everyHistory, intentOf, PID } from './arbitrary.ts'

test('an intent that is refused, kept or replayed leaves the whole store as it was', async () => {
  const reached = { appended: 0, refused: 0, kept: 0, replayed: 0 }
  await everyHistory(async (request, moves) => {
    const store = await openMemory()
    const edges = testEdges(store)
    await register(edges, [{ pid: PID, request, actor: 'host' }], 'no-environment')
    for (const move of moves) {
      if ('claim' in move) {
        await claim(edges, PID, move.claim)
        continue
      }
      const row = await store.ask({ ask: 'process', pid: PID })
      if (row === null) throw new Error('The process is gone')
      const intent = intentOf(move, row)
      for (const _ of ['first', 'repeated']) {
        const before = await snapshotOf(store)
        const { type } = await perform(edges, intent)
        reached[type] += 1
        if (type !== 'appended') expect(await snapshotOf(store), intent.type).toEqual(before)
      }
    }
    await store.close()
  })
  for (const [type, count] of Object.entries(reached)) expect(count, type).toBeGreaterThan(10)
})

test('every refused verb of the public interface leaves the whole store as it was', async () => {
  const store = await openSqlite(tempStore())
  const reeve = await embed({ store })
  await reeve.openSession({ session: 's1' })
  await reeve.openSession({ session: 's2' })
  await reeve.endSession({ session: 's2' })
  const outside = { kind: 'external', spec: { description: 'x' } } as const
  const eventTypes = { note: { schema: { type: 'number' } }, last: { schema: {}, end: 'completed' } } as const
  const { record: live } = await reeve.spawn({ ...outside, owner: { session: 's1' }, eventTypes })
  const { record: ended } = await reeve.spawn({ ...outside, owner: { session: 's1' } })
  await reeve.end({ pid: ended.pid, status: 'completed', replayKey: 'e' })
  const { record: tool } = await reeve.spawn({ kind: 'tool', spec: { tool: 'nobody-has-it' } })
  const as = reeve.as('session:s2')

  const refused: readonly (readonly [code: string, act: () => Promise<unknown>])[] = [
    ['conflict', () => reeve.spawn({ ...outside, pid: live.pid })],
    ['unknown_pid', () => reeve.spawn({ ...outside, parent: 'p_nvbvdyzzzzzz' })],
    ['already_ended', () => reeve.spawn({ ...outside, parent: ended.pid })],
    ['session_ended', () => reeve.spawn({ ...outside, owner: { session: 's2' } })],
    ['session_unknown', () => reeve.spawn({ ...outside, owner: { session: 's3' } })],
    ['session_unknown', () => reeve.spawn({ ...outside, wakeTarget: 's3' })],
    ['invalid_input', () => reeve.spawn({ ...outside, recovery: 'bound' })],
    ['conflict', () => reeve.spawnMany({ processes: [outside, { ...outside, pid: live.pid }] })],
    ['undeclared_event', () => reeve.append({ events: [{ pid: live.pid, type: 'other', payload: 1 }] })],
    ['payload_mismatch', () => reeve.append({ events: [{ pid: live.pid, type: 'note', payload: 'x' }] })],
    ['replay_key_required', () => reeve.append({ events: [{ pid: live.pid, type: 'last', payload: 1 }] })],
    [
      'already_ended',
      () =>
        reeve.append({
          events: [
            { pid: live.pid, type: 'note', payload: 1 },
            { pid: ended.pid, type: 'note', payload: 1 },
          ],
        }),
    ],
    ['already_ended', () => reeve.end({ pid: ended.pid, status: 'failed', replayKey: 'e2' })],
    ['replay_conflict', () => reeve.end({ pid: ended.pid, status: 'failed', replayKey: 'e' })],
    ['not_holding', () => reeve.end({ pid: tool.pid, status: 'completed', replayKey: 'e' })],
    ['not_paused', () => reeve.signal({ pid: live.pid, signal: 'resume' })],
    ['already_ended', () => reeve.signal({ pid: ended.pid, signal: 'pause' })],
    ['already_ended', () => reeve.signal({ pid: ended.pid, signal: 'interrupt' })],
    ['already_ended', () => reeve.send({ pid: ended.pid, name: 'go' })],
    ['already_ended', () => reeve.abandon({ pid: ended.pid, reason: 'x' })],
    ['already_ended', () => reeve.changeCwd({ pid: ended.pid, cwd: '/' })],
    ['session_unknown', () => reeve.changeOwner({ pid: live.pid, owner: { session: 's3' } })],
    ['not_external', () => reeve.setExternalRef({ pid: tool.pid, ref: 1 })],
    ['session_ended', () => reeve.touchSession({ session: 's2' })],
    ['session_ended', () => reeve.openTurn({ session: 's2', turn: 't' })],
    ['turn_unknown', () => reeve.endTurn({ session: 's1', turn: 't' })],
    ['session_ended', () => reeve.grant({ session: 's2', pids: [live.pid] })],
    ['unknown_pid', () => reeve.transferGrants({ from: 's1', to: 's1', pids: [live.pid] })],
    ['denied', () => as.signal({ pid: live.pid, signal: 'cancel' })],
    ['denied', () => as.spawn({ ...outside, owner: { session: 's1' } })],
    ['denied', () => as.endSession({ session: 's1' })],
    ['denied', () => as.prune({ keep: 0 })],
    ['denied', () => as.grant({ session: 's1', pids: [live.pid] })],
  ]
  const { audit: _, auditWindows: __, ...before } = await snapshotOf(store)
  let tail = await store.ask({ ask: 'auditTail' })
  for (const [code, act] of refused) {
    await expect(act(), code).rejects.toMatchObject({ code, remedy: expect.stringMatching(/./) })
    const { audit, auditWindows, ...after } = await snapshotOf(store)
    expect(after, code).toEqual(before)
    // A denial is appended to the audit, nowhere else.
    expect(audit.position - tail.position, code).toBe(code === 'denied' ? 1 : 0)
    expect(auditWindows.length > 0, code).toBe(audit.position > 0)
    tail = audit
  }
  await reeve.close()
  await store.close()
})
