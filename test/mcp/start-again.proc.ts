import { expect, test } from 'vitest'
import { TempReeve } from '../temp-reeve.ts'
import { textOf, WAYS } from './connected.ts'

test('a second start with the same idempotencyKey reports the existing process', async () => {
  await using temp = new TempReeve()
  const client = await WAYS.stdio(await temp.embed(), { era: 'modern' })
  const given = { run: 'echo hello', idempotencyKey: 'once', waitMs: 30_000 }
  const first = await textOf(client, 'process_start', given)
  expect(first).not.toContain('idempotencyKey')
  const second = await textOf(client, 'process_start', given)
  expect(second.split(' ')[0]).toBe(first.split(' ')[0])
  expect(second).toContain('Note: nothing was started: an earlier call with this idempotencyKey started it.')
})

test('only tools that are safe to repeat are marked as idempotent', async () => {
  await using temp = new TempReeve()
  const client = await WAYS.stdio(await temp.embed(), { era: 'modern' })
  const { tools } = await client.listTools()
  const marked = tools.filter(({ annotations }) => annotations?.idempotentHint === true)
  expect(marked.map(({ name }) => name)).toEqual(['process_kill', 'interrupt'])
})
