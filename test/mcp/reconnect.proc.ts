import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { TokenFile } from '../../src/daemon/token-file.ts'
import { until } from '../keeper/client.ts'
import { tempFolder } from '../temp-folder.ts'
import { TempReeve } from '../temp-reeve.ts'
import { call } from './connected.ts'
import { clientAtDaemon } from './daemon-client.ts'

const ECHO = {
  run: 'while read -r line; do echo "$line"; done',
  name: 'echo',
  stdin: 'pipe',
  waitMs: 0,
}

function adminTokenOf(temp: TempReeve): string {
  return new TokenFile(temp.home).create({ role: 'admin' }).token
}

async function ping(url: string, token: string, session: string): Promise<number> {
  const response = await fetch(new URL('/mcp', url), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-session-id': session,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  })
  await response.text()
  return response.status
}

for (const [by, placed] of [
  ['its root', (folder: string) => ({ root: folder })],
  ['its URL', (folder: string) => ({ folder })],
  ['nothing but its connection', () => ({})],
] as const) {
  test(`a legacy client over HTTP that is known by ${by} survives kill -9 of the daemon without a new handshake`, async () => {
    const temp = new TempReeve()
    const token = adminTokenOf(temp)
    const first = await temp.start()
    const url = first.url ?? ''
    const cwd = tempFolder()
    const { client, asked } = await clientAtDaemon({ url, token, era: 'legacy', ...placed(cwd) })
    const started = await call(client, 'process_start', { ...ECHO, cwd })
    expect(started).toMatchObject({ isError: false })
    await call(client, 'process_write', { pid: 'echo', text: 'before', enter: true })

    await first.kill()
    const second = await temp.start(['--listen', new URL(url).host])
    expect(second.url).toBe(url)
    expect((await call(client, 'process_poll', { pid: 'echo' })).text).toContain('(no new output)')
    const written = await call(client, 'process_write', { pid: 'echo', text: 'after', enter: true })
    expect(written.text).toContain('after')
    expect((await call(client, 'process_list')).text).toContain('echo')
    expect((await call(client, 'process_kill', { pid: 'echo' })).text).toContain('killed')
    expect(asked.filter((method) => method === 'initialize')).toHaveLength(1)
  })
}

test('a session id is accepted unchanged, from the token it was issued to, until its client ends it', async () => {
  const temp = new TempReeve()
  const token = adminTokenOf(temp)
  const first = await temp.start()
  const url = first.url ?? ''
  const connected = await clientAtDaemon({ url, token, era: 'legacy', root: tempFolder() })
  const id = connected.transport.sessionId ?? ''
  const other = adminTokenOf(temp)
  const [claims = '', signature = ''] = id.split('.')
  const changed = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8'))
  const forged = Buffer.from(JSON.stringify({ ...changed, folder: '/' })).toString('base64url')
  const wrong = [`${forged}.${signature}`, `${claims}.`, claims, `${id}A`, 'nobody', `..${signature}`]
  const expectOnlyOwn = async () => {
    for (const one of wrong) expect(await ping(url, token, one), one).toBe(404)
    expect(await ping(url, other, id)).toBe(404)
    expect(await ping(url, token, id)).toBe(200)
  }
  await expectOnlyOwn()
  const key = statSync(join(temp.home.folder, 'mcp-key'))
  expect(key.mode & 0o777).toBe(0o600)

  await first.kill()
  await temp.start(['--listen', new URL(url).host])
  await expectOnlyOwn()
  await connected.transport.terminateSession()
  await until('it is ended', async () => (await ping(url, token, id)) === 404)
})
