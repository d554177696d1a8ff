import { expect, onTestFinished, test } from 'vitest'
import type { TriggerDefinition } from '../../src/core/trigger/trigger.ts'
import type { Store } from '../../src/store/contract.ts'
import { openMemory } from '../../src/store/memory/open.ts'
import { testKernel } from '../../src/testing/test-kernel.ts'

const SOURCE = { type: 'event', on: ['ended'], kind: ['workflow'] } as const
const DEFINITION: TriggerDefinition = {
  ...{ source: SOURCE, overlap: 'queue', pauseOnFailure: false },
  request: { kind: 'tool', spec: { tool: 'work' } },
}

test('an edit that names the same source again loses no event that was not read yet', async () => {
  const inner = await openMemory()
  onTestFinished(() => inner.close())
  let isReading = true
  const store: Store = {
    ...{ durability: inner.durability, blobs: inner.blobs, onCommit: (listener) => inner.onCommit(listener) },
    ...{ write: (plan) => inner.write(plan), close: () => inner.close() },
    ask: (question) =>
      question.ask === 'changes' && !isReading ? Promise.reject(new Error('busy')) : inner.ask(question),
  }
  const { kernel } = await testKernel(store, {
    ...{ id: 'k_one', serves: [], onTrouble: () => undefined },
  })
  onTestFinished(() => kernel.close())
  await kernel.triggers.add('host', 'after', DEFINITION)
  isReading = false
  const [registered] = await kernel.register([
    { request: { kind: 'workflow', spec: { workflow: 'flow' } }, actor: 'host' },
  ])
  if (registered === undefined || registered.type === 'refused') throw new Error('It was not registered')
  const { pid } = registered.row.record
  const stop = { type: 'stop', how: 'cancel', reason: 'x', cause: null, replayKey: 's' } as const
  await kernel.perform({ ...stop, pid, actor: 'host', at: 1_700_000_000_000 })
  await expect(kernel.triggers.edit('host', 'after', { source: SOURCE, overlap: 'allow' })).rejects.toThrow(
    'busy',
  )
  isReading = true
  await kernel.sweep()
  expect(await kernel.triggers.show('host', 'after')).toMatchObject({
    overlap: 'allow',
    revision: 2,
    counts: { started: 1 },
  })
})
