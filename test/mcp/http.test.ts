import { embed } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import type { McpClient } from '../../src/mcp/client.ts'
import { type McpCaller, type McpHttpOptions, mcpHttpHandler } from '../../src/mcp/http.ts'
import { mcpServer } from '../../src/mcp/server.ts'
import { until } from '../keeper/client.ts'
import { tempStore } from '../temp-folder.ts'

const ADMIN: McpCaller = { role: 'admin', actor: 'host', tokenId: 'a' }
const OTHER: McpCaller = { role: 'admin', actor: 'host', tokenId: 'b' }
const HELLO = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
}
const PING = { jsonrpc: '2.0', id: 2, method: 'ping' }

async function handlerOf(options: McpHttpOptions = {}) {
  const reeve = await embed({ store: tempStore() })
  const handler = mcpHttpHandler(reeve, options)
  onTestFinished(async () => {
    await handler.close()
    await reeve.close()
  })
  return {
    ...handler,
    async ask(body: unknown, session?: string, caller = ADMIN) {
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(session === undefined ? {} : { 'mcp-session-id': session }),
      }
      const init = { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) }
      const response = await handler.fetch(new Request('http://127.0.0.1/mcp', init), caller)
      return {
        status: response.status,
        session: response.headers.get('mcp-session-id'),
        text: await response.text(),
      }
    },
    stream(session: string) {
      const headers = { accept: 'text/event-stream', 'mcp-session-id': session }
      const request = new Request('http://127.0.0.1/mcp', { headers })
      return handler.fetch(request, ADMIN)
    },
  }
}

test('a legacy connection belongs to the token that made it', async () => {
  const { ask } = await handlerOf()
  const { session } = await ask(HELLO)
  expect(await ask(PING, session ?? '')).toMatchObject({ status: 200 })
  expect(await ask(PING, session ?? '', OTHER)).toMatchObject({ status: 404 })
  expect(await ask(PING, 'nobody')).toMatchObject({ status: 404 })
})

test('a request that is no handshake makes no connection, and is told why', async () => {
  const { ask } = await handlerOf()
  expect(await ask(PING)).toMatchObject({ status: 400, session: null })
  expect(await ask('{')).toMatchObject({ status: 400, session: null })
})

test('an idle legacy connection is closed until its client asks again; one with an open stream stays', async () => {
  const closed: number[] = []
  let built = 0
  const build = (client: McpClient) => {
    const server = mcpServer(client)
    const number = built++
    server.server.onclose = () => void closed.push(number)
    return server
  }
  const { ask, stream } = await handlerOf({ idleMs: 50, build })
  const listening = await ask(HELLO)
  const open = await stream(listening.session ?? '')
  expect(open.status).toBe(200)
  const idle = await ask(HELLO)
  await until('the idle one is forgotten', () => closed.includes(1))
  expect(await ask(PING, idle.session ?? '')).toMatchObject({ status: 200 })
  expect(await ask(PING, listening.session ?? '')).toMatchObject({ status: 200 })
  await open.body?.cancel()
  await until('the other one is, too', () => closed.includes(0))
})

test('closing the handler ends open streams', async () => {
  const { ask, stream, close } = await handlerOf()
  const { session } = await ask(HELLO)
  const open = await stream(session ?? '')
  const whole = open.text()
  await close()
  expect(await whole).toBe('')
})

test('closing the handler waits for a connection that is being restored, and closes it, too', async () => {
  const key = Buffer.alloc(32, 1)
  const { session } = await (await handlerOf({ key })).ask(HELLO)
  const restoring = Promise.withResolvers<void>()
  let isClosed = false
  const build = (client: McpClient) => {
    const server = mcpServer(client)
    server.server.onclose = () => {
      isClosed = true
    }
    restoring.resolve()
    return server
  }
  const { ask, close } = await handlerOf({ key, build })
  const asked = ask(PING, session ?? '')
  await restoring.promise
  await close()
  expect(isClosed).toBe(true)
  expect(await asked).toMatchObject({ status: 503 })
})
