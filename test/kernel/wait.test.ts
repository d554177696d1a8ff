import { expect, test } from 'vitest'
import { prune } from '../../src/kernel/prune.ts'
import { waitForEvent } from '../../src/kernel/wait.ts'
import { openMemory } from '../../src/store/memory/open.ts'
import { testKernel } from '../../src/testing/test-kernel.ts'

test('a wait for an event of a process that is pruned while it reads is refused, not told that there was none', async () => {
  const store = await openMemory()
  const { kernel, edges } = await testKernel(store, { id: 'k1' })
  const actor = 'host'
  const [registered] = await kernel.register([
    {
      actor,
      request: { kind: 'external', spec: {}, eventTypes: { note: { schema: {} } }, lifetime: 'detached' },
    },
  ])
  if (registered?.type !== 'registered') throw new Error('not registered')
  const { pid } = registered.row.record
  const asked = { pid, actor, at: edges.clock.now() } as const
  await kernel.perform({ ...asked, type: 'append', event: 'note', payload: 1, replayKey: null, fence: null })
  await kernel.perform({ ...asked, type: 'request_abandon', reason: 'test' })

  // Between the questions of the wait: the row is still there, and its events are not.
  const { store: inner } = edges
  const pruning: typeof inner = {
    ...inner,
    ask: async (question) => {
      if (question.ask === 'events') await prune({ ...edges, store: inner }, { keep: 0 })
      return inner.ask(question)
    },
  }
  const waited = waitForEvent(
    { ...edges, store: pruning },
    kernel.feed,
    pid,
    0,
    ({ type }) => type === 'note',
    {},
  )
  await expect(waited).rejects.toMatchObject({ code: 'unknown_pid' })
  await kernel.close()
  await store.close()
})
