import { join } from 'node:path'
import { type Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, inject, test } from 'vitest'
import { TokenFile } from '../../src/daemon/token-file.ts'
import { mcpHttpHandler } from '../../src/mcp/http.ts'
import { until } from '../keeper/client.ts'
import { TempReeve } from '../temp-reeve.ts'
import { call, clientOf, countWaits, ERAS, type Era } from './connected.ts'
import { onLoopback } from './loopback.ts'

interface Begun {
  process: { pid: string }
}

async function clientAt(url: string, era: Era, token?: string): Promise<Client> {
  const client = clientOf({ era })
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}?folder=${process.cwd()}`), {
      requestInit: { headers },
    }),
  )
  return client
}

for (const era of ERAS) {
  test(`in the ${era} era two agents with tokens neither see nor touch each other's processes`, async () => {
    const temp = new TempReeve()
    const daemon = await temp.up()
    const tokens = new TokenFile(temp.home)
    const agent = (session: string) => tokens.create({ role: 'agent', session }).token
    const [first, second] = [agent('s1'), agent('s2')]
    const one = await clientAt(`${daemon.url}/mcp`, era, first)
    const two = await clientAt(`${daemon.url}/mcp`, era, second)
    const { structured } = await call<Begun>(one, 'process_start', {
      run: 'sleep 60',
      waitMs: 0,
      name: 'mine',
    })
    const { pid } = structured.process
    expect((await call(two, 'process_list', { status: 'any' })).structured).toMatchObject({ processes: [] })
    for (const which of [pid, 'mine'])
      for (const tool of ['process_poll', 'process_log', 'process_wait', 'process_kill', 'process_restart'])
        expect(await call(two, tool, { pid: which })).toMatchObject({ isError: true })
    expect(await call(two, 'process_write', { pid, text: 'x' })).toMatchObject({ isError: true })
    expect(await call(two, 'interrupt')).toMatchObject({ isError: true })
    expect((await call(two, 'inbox')).structured).toMatchObject({ notices: [] })
    expect((await call(one, 'process_poll', { pid: 'mine' })).structured).toMatchObject({
      process: { status: 'running' },
    })

    await expect(clientAt(`${daemon.url}/mcp`, era, 'wrong')).rejects.toThrow()
    await expect(clientAt(`${daemon.url}/mcp`, era)).rejects.toThrow()

    // The same token gives the same session to an agent that starts reeve mcp.
    const env = {
      ...(process.env as Record<string, string>),
      ...temp.env,
      ...{ REEVE_URL: daemon.url ?? '', REEVE_TOKEN: first, REEVE_SESSION: 's1' },
    }
    const args = [REEVE, 'mcp']
    const over = clientOf({ era })
    await over.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'inherit' }))
    expect((await call(over, 'process_list')).structured).toMatchObject({ processes: [{ pid }] })
    expect((await call(over, 'process_kill', { pid })).structured).toMatchObject({ type: 'ended' })
  })

  test(`in the ${era} era a cancelled call ends its wait over a real socket, too`, async () => {
    await using temp = new TempReeve()
    const reeve = await temp.embed()
    const waits = countWaits(reeve)
    const served = await onLoopback(mcpHttpHandler(waits.reeve))
    await using _ = { [Symbol.asyncDispose]: () => served.close() }
    const client = await clientAt(served.url, era)
    const { structured } = await call<Begun>(client, 'process_start', { run: 'sleep 60', waitMs: 0 })
    const { pid } = structured.process
    const cancel = new AbortController()
    const options = { signal: cancel.signal, onprogress: () => {} }
    const waiting = call(client, 'process_wait', { pid, timeoutMs: 50_000 }, options)
    await until('the wait has begun', () => waits.under > 0)
    cancel.abort('enough')
    await expect(waiting).rejects.toThrow()
    await until('the wait is over', () => waits.under === 0)
    expect((await reeve.show({ pid })).status).toBe('running')
  })
}

const REEVE = join(inject('builtReeve'), 'dist/main.js')
