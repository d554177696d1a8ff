import { realpathSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { Client, InMemoryTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { mcpHttpHandler } from '../../src/mcp/http.ts'
import { sessionIdOf } from '../../src/mcp/session-id.ts'
import { serveMcpStdio } from '../../src/mcp/stdio.ts'
import { embedTemp } from '../embed-temp.ts'
import { tempFolder } from '../temp-folder.ts'
import { call, clientOf } from './connected.ts'

test('over stdio a client that declares roots and does not answer is refused, and may try again', async () => {
  const reeve = await embedTemp()
  const [root, cwd] = [tempFolder(), tempFolder()]
  const client = new Client({ name: 'tester', version: '1' }, { capabilities: { roots: {} } })
  onTestFinished(() => client.close())
  let isReady = false
  client.setRequestHandler('roots/list', async () => {
    if (!isReady) throw new Error('still starting')
    return { roots: [{ uri: pathToFileURL(root).href }] }
  })
  const [there, here] = InMemoryTransport.createLinkedPair()
  const served = serveMcpStdio(reeve, { transport: there, cwd, onTrouble: () => {} })
  onTestFinished(() => served.close())
  await client.connect(here)

  const start = { run: 'true', waitMs: 1 }
  const refused = await call(client, 'process_start', start)
  expect(refused.isError).toBe(true)
  expect(refused.text).toContain('(folder_unknown)')
  expect(refused.text).toMatch(/declares roots.*did not answer/)
  expect((await reeve.sessions()).sessions).toEqual([])

  isReady = true
  expect(await call(client, 'process_start', start)).toMatchObject({ isError: false })
  const { sessions } = await reeve.sessions()
  expect(sessions.map(({ id }) => id)).toEqual([sessionIdOf('tester', realpathSync(root))])
})

test('over HTTP in the modern era a subscription without a folder is refused in JSON-RPC, and says how to name the folder', async () => {
  const handler = mcpHttpHandler(await embedTemp())
  onTestFinished(() => handler.close())
  const answers: { status: number; body: string }[] = []
  const fetch = async (url: string | URL | Request, init?: RequestInit) => {
    const response = await handler.fetch(new Request(url, init), {
      role: 'admin',
      actor: 'host',
      tokenId: 't',
    })
    if (String(init?.body).includes('subscriptions/listen'))
      answers.push({ status: response.status, body: await response.clone().text() })
    return response
  }
  const client = clientOf({ era: 'modern', root: tempFolder() })
  await client.connect(new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), { fetch }))
  await expect(client.listen({ resourceSubscriptions: ['reeve://inbox'] })).rejects.toThrow(/mcp\?folder=/)
  const [answer] = answers
  expect(JSON.parse(answer?.body ?? '')).toMatchObject({
    jsonrpc: '2.0',
    id: expect.anything(),
    error: { code: -32_602, message: expect.not.stringContaining('named no workspace folder') },
  })
})
