import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { embedTemp } from '../embed-temp.ts'
import { overHttp, overStdio } from './connected.ts'

test('docs/mcp.md has a line for every tool and every resource, and no others', async () => {
  const reeve = await embedTemp()
  const caller = { role: 'operate', actor: 'host', tokenId: 't', person: 'human:ada' } as const
  const client = await overHttp(reeve, { era: 'modern', caller })
  const page = readFileSync('docs/mcp.md', 'utf8')
  const rows = [...page.matchAll(/^\| `([^`]+)` \|/gm)].map(([, first]) => first).sort()
  const { tools } = await client.listTools()
  const { resources } = await client.listResources()
  const { resourceTemplates } = await client.listResourceTemplates()
  const there = [
    ...tools.map(({ name }) => name),
    ...resources.map(({ uri }) => uri),
    ...resourceTemplates.map(({ uriTemplate }) => uriTemplate),
  ]
  expect(rows).toEqual(there.sort())
})

test('every tool says what it does and when to use it, and whether it changes something', async () => {
  const reeve = await embedTemp()
  const { tools } = await (await overStdio(reeve, { era: 'modern' })).listTools()
  for (const { name, title, description = '', annotations } of tools) {
    expect(title, name).toBeTruthy()
    expect(description.length, name).toBeGreaterThan(100)
    expect(description.length, name).toBeLessThan(800)
    expect(typeof annotations?.readOnlyHint, name).toBe('boolean')
  }
  const ends = tools
    .filter(({ annotations }) => annotations?.destructiveHint === true)
    .map(({ name }) => name)
  expect(ends).toEqual(['process_kill', 'process_restart', 'interrupt'])
  const looks = tools.filter(({ annotations }) => annotations?.readOnlyHint === true).map(({ name }) => name)
  expect(looks).toEqual([
    'process_list',
    'process_poll',
    'process_log',
    'process_search',
    'process_screen',
    'process_wait',
    'inbox',
  ])
})
