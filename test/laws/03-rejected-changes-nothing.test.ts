import { embed } from 'reeve'
import { expect, test } from 'vitest'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { photograph } from '../../src/testing/conformance/sound.ts'
import { tempFile } from '../temp-file.ts'
import { everyStep } from './arbitrary.ts'

test('what decide refuses, keeps or replays has no events and no lease in it, and leaves its facts alone', () => {
  const reached = { append: 0, refuse: 0, keep: 0, replay: 0 }
  everyStep(({ was, decision }) => {
    if (decision === null) return
    reached[decision.type] += 1
    if (decision.type === 'append') return
    expect(['events', 'lease', 'overflow'].filter((change) => change in decision)).toEqual([])
    expect(Object.isFrozen(was.row.record)).toBe(true)
  })
  for (const [type, count] of Object.entries(reached)) expect(count, type).toBeGreaterThan(0)
})

test('every refused act through the public door leaves the whole store as it was', async () => {
  const store = await openSqlite(tempFile())
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
    ['session_unknown', () => reeve.reown({ pid: live.pid, owner: { session: 's3' } })],
    ['not_external', () => reeve.refer({ pid: tool.pid, ref: 1 })],
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
  const before = await photograph(store)
  for (const [code, act] of refused) {
    await expect(act(), code).rejects.toMatchObject({ code, remedy: expect.stringMatching(/./) })
    expect(await photograph(store), code).toEqual(before)
  }
  await reeve.close()
  await store.close()
})
