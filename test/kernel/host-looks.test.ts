import { openMemory } from 'reeve/testing'
import { expect, test } from 'vitest'
import { UNANALYSED } from '../../src/core/capability/action.ts'
import { HostLooks } from '../../src/kernel/host-looks.ts'
import { testEdges } from '../../src/testing/test-edges.ts'
import { registered } from '../core/registered.ts'

test('a command is resolved also after changing files have used up the looks, and once then', async () => {
  const { record } = registered('p_azzzzzzzzzzz', {})
  const action = { ...UNANALYSED, cwd: '/work' }
  const looks = new HostLooks(testEdges(await openMemory()), async () => action, 1)
  await looks.lookAround({ type: 'folders', folders: [], sessions: [] })
  const resolvedNow = async () => {
    await looks.look({ unresolved: record, missing: { type: 'action' } })
    return looks.facts.resolved.get(record.pid)?.action
  }
  expect(await resolvedNow()).toBe(action)
  expect(await resolvedNow()).toBe(UNANALYSED)
})
