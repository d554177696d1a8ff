import { embed } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { DyingStore, type LivingHolders } from '../dying-store.ts'
import { strictProvider } from '../model/strict-provider.ts'
import { tempStore } from '../temp-folder.ts'
import { TEST_PRESET } from '../test-preset.ts'
import { payloads } from './scripted-agent.ts'

test('a turn whose kernel always dies ends with crashed after five deaths, and the agent is idle and takes the next input', async () => {
  const store = await openSqlite(tempStore())
  onTestFinished(() => store.close())
  const living: LivingHolders = new Set()
  let dying = new DyingStore(store, null, living)
  let deaths = 0
  let isDeadly = true
  const provider = await strictProvider(() => {
    if (!isDeadly) return { text: 'Still here.' }
    deaths += 1
    dying.die()
    return () => undefined
  })
  const providers = { strict: { type: 'openai-compatible', baseURL: `${provider.url}/v1` } } as const
  const kernel = async () => {
    dying = new DyingStore(store, null, living)
    const reeve = await embed({ store: dying.store, modelOptions: { providers }, ...TEST_PRESET })
    const spec = { agent: 'coder', model: 'strict/m', goal: 'first' }
    const { record } = await reeve.spawn({ kind: 'agent', idempotencyKey: 'agent', spec })
    return { reeve, pid: record.pid }
  }
  // Each kernel calls the model, and dies with that.
  while (deaths < 5) {
    const begun = kernel()
    const { death } = dying
    await Promise.race([begun, death])
    await death
  }
  isDeadly = false
  const { reeve, pid } = await kernel()
  expect(await reeve.waitAgent({ pid, turn: 1 })).toMatchObject({ turn: { reason: 'crashed' } })
  expect(await reeve.waitAgent({ pid })).toMatchObject({ type: 'idle' })
  await reeve.runAgent({ pid, text: 'second' })
  expect(await reeve.waitAgent({ pid, turn: 2 })).toMatchObject({
    turn: { reason: 'finished', result: 'Still here.' },
  })
  expect(await payloads(reeve, pid, 'model_call_begun')).toHaveLength(6)
  expect(provider.complaints).toEqual([])
  await reeve.close()
})
