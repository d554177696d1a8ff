import type { Client } from '@modelcontextprotocol/client'
import { describe, expect, test } from 'vitest'
import { until } from '../keeper/client.ts'
import { TempReeve } from '../temp-reeve.ts'
import { call, ERAS, type Era, WAYS } from './connected.ts'

interface Begun {
  process: { pid: string }
}

for (const [way, connect] of Object.entries(WAYS)) {
  for (const era of ERAS) {
    describe(`over ${way} in the ${era} era`, () => {
      test('processes, records, logs and the inbox are resources', async () => {
        await using temp = new TempReeve()
        const client = await connect(await temp.embed(), { era })
        const run = 'echo hello; exec sleep 60'
        const started = await call<Begun>(client, 'process_start', { run, waitMs: 0, name: 'web' })
        const { pid } = started.structured.process
        await call(client, 'process_wait', { pid, until: { text: 'hello' } })
        const { resourceTemplates } = await client.listResourceTemplates()
        expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
          'reeve://processes/{pid}',
          'reeve://processes/{pid}/log',
        ])
        const { resources } = await client.listResources()
        const uris = resources.map(({ uri }) => uri)
        expect(uris).toEqual([
          'reeve://processes',
          'reeve://inbox',
          `reeve://processes/${pid}`,
          `reeve://processes/${pid}/log`,
        ])
        expect(JSON.parse(await textOf(client, 'reeve://processes'))).toMatchObject([{ pid, name: 'web' }])
        expect(JSON.parse(await textOf(client, `reeve://processes/${pid}`))).toMatchObject({
          pid,
          spec: { run },
        })
        expect(await textOf(client, `reeve://processes/${pid}/log`)).toBe('hello')
        await call(client, 'process_kill', { pid })
        expect(JSON.parse(await textOf(client, 'reeve://inbox'))).toMatchObject([{ pid, kind: 'completion' }])
        await expect(textOf(client, 'reeve://processes/p_000000000000')).rejects.toMatchObject({
          code: -32_602,
        })
      })

      test('a subscriber is notified about changes, and about nothing else', async () => {
        await using temp = new TempReeve()
        const client = await connect(await temp.embed(), { era })
        const run = 'while read -r line; do echo "$line"; done'
        const started = await call<Begun>(client, 'process_start', { run, stdin: 'pipe', waitMs: 0 })
        const { pid } = started.structured.process
        const [record, log] = [`reeve://processes/${pid}`, `reeve://processes/${pid}/log`]
        const heard: string[] = []
        client.setNotificationHandler(
          'notifications/resources/updated',
          ({ params }) => void heard.push(params.uri),
        )
        await subscribed(client, era, [log, 'reeve://inbox', 'reeve://processes'])
        await call(client, 'process_write', { pid, text: 'x', enter: true })
        await until('the log is told of', () => heard.includes(log))
        expect(new Set(heard)).toEqual(new Set([log]))
        await call(client, 'process_kill', { pid })
        await until(
          'the end is told of',
          () => heard.includes('reeve://inbox') && heard.includes('reeve://processes'),
        )
        expect(heard).not.toContain(record)
      })
    })
  }
}

test('a legacy client cannot subscribe to an unknown resource, and is not notified after it unsubscribed', async () => {
  await using temp = new TempReeve()
  const client = await WAYS.stdio(await temp.embed(), { era: 'legacy' })
  await expect(client.subscribeResource({ uri: 'test://other' })).rejects.toMatchObject({ code: -32_602 })
  const heard: string[] = []
  client.setNotificationHandler(
    'notifications/resources/updated',
    ({ params }) => void heard.push(params.uri),
  )
  await client.subscribeResource({ uri: 'reeve://inbox' })
  await client.subscribeResource({ uri: 'reeve://processes' })
  await client.unsubscribeResource({ uri: 'reeve://inbox' })
  await call(client, 'process_start', { run: 'true' })
  await call(client, 'process_start', { run: 'sleep 60', waitMs: 0 })
  await until('the list is told of', () => heard.length > 0)
  expect(new Set(heard)).toEqual(new Set(['reeve://processes']))
})

async function textOf(client: Client, uri: string): Promise<string> {
  const { contents } = await client.readResource({ uri })
  const [first] = contents
  return first !== undefined && 'text' in first ? String(first.text) : ''
}

async function subscribed(client: Client, era: Era, uris: string[]): Promise<void> {
  if (era === 'legacy') {
    for (const uri of uris) await client.subscribeResource({ uri })
    return
  }
  const { honoredFilter } = await client.listen({ resourceSubscriptions: uris })
  expect(honoredFilter).toEqual({ resourceSubscriptions: uris })
}
