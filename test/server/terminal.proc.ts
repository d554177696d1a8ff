import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { TokenFile } from '../../src/daemon/token-file.ts'
import type { Daemon } from '../../src/daemon/up.ts'
import { serve } from '../../src/server/server.ts'
import { newTokenText, type StoredToken, tokenHash } from '../../src/server/tokens.ts'
import { until } from '../keeper/client.ts'
import { quiet, TempReeve } from '../temp-reeve.ts'
import { ask } from './ask.ts'
import { Screen } from './screen.ts'

async function spawn(daemon: Daemon, line: string, more: object = { pty: true }): Promise<string> {
  const body = { kind: 'command', spec: { run: line, ...more } }
  return (await ask(daemon, 'POST /v1/processes', { body })).json.record.pid
}

test('a terminal sends output, takes input and size, and reports the end', async () => {
  const daemon = await new TempReeve().up()
  const pid = await spawn(daemon, 'stty -echo; echo ready; read line; stty size; echo "got $line"')
  const screen = await new Screen(daemon, `/v1/processes/${pid}/terminal`).opened()
  await screen.shows('ready')
  expect(screen.told[0]).toEqual({ offset: 0 })
  screen.ws.send(JSON.stringify({ resize: { cols: 91, rows: 17 } }))
  screen.ws.send(Buffer.from('hé\n'))
  await screen.shows('got hé')
  expect(screen.bytes.toString()).toContain('17 91')
  await until('it is closed', () => screen.closed !== undefined)
  expect(screen.told.at(-1)).toEqual({ ended: true })
  expect(screen.closed).toMatchObject({ code: 1000 })
})

test('a terminal resumes at an offset, or begins with scrollback', async () => {
  const daemon = await new TempReeve().up()
  const pid = await spawn(daemon, 'printf 0123456789; read line', {})
  await ask(daemon, `GET /v1/processes/${pid}/output/stream?offset=-1&live=long-poll`)
  await ask(daemon, `GET /v1/processes/${pid}/wait?timeoutMs=20000`)
  for (const [query, offset, text] of [
    ['offset=7', 7, '789'],
    ['scrollback=4', 6, '6789'],
    ['scrollback=0', 10, ''],
    ['', 0, '0123456789'],
  ] as const) {
    const screen = new Screen(daemon, `/v1/processes/${pid}/terminal?${query}`)
    await until('it is closed', () => screen.closed !== undefined)
    expect([query, screen.told, screen.bytes.toString()]).toEqual([
      query,
      [{ offset }, { ended: true }],
      text,
    ])
  }
})

test('refused input is reported, and the terminal stays open', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up()
  const pid = await spawn(daemon, 'echo ready; read line; echo "got $line"')
  const { token } = new TokenFile(temp.home).create({ role: 'read' })
  const watching = await new Screen(
    daemon,
    `/v1/processes/${pid}/terminal`,
    { authorization: `Bearer ${token}` },
    false,
  ).opened()
  await watching.shows('ready')
  watching.ws.send(Buffer.from('no\n'))
  const isTold = (code: string) => watching.told.some(({ refused }) => refused?.code === code)
  await until('typing is refused', () => isTold('forbidden'))
  const typing = await new Screen(daemon, `/v1/processes/${pid}/terminal`).opened()
  for (const text of ['no JSON', '{}', '[]', 'null', '{"resize":{"cols":0,"rows":1}}']) typing.ws.send(text)
  await until('each is refused', () => typing.told.filter((one) => 'refused' in one).length === 5)
  expect(typing.told.filter((one) => 'refused' in one).map(({ refused }) => refused.code)).toEqual([
    ...Array(4).fill('bad_request'),
    'invalid_input',
  ])
  typing.ws.send(Buffer.from('yes\n'))
  await watching.shows('got yes')
})

test('a refused caller or an unknown process gets a problem and no WebSocket', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up()
  const pid = await spawn(daemon, 'sleep 300')
  const bearer = { authorization: `Bearer ${daemon.token}` }
  const overTcp = (path: string, headers: Record<string, string>) =>
    new Screen(daemon, path, headers, false).refused()
  const path = `/v1/processes/${pid}/terminal`
  expect(await overTcp(path, {})).toEqual({ status: 401, code: 'unauthorized' })
  expect(await overTcp(path, { ...bearer, origin: 'http://evil.example' })).toEqual({
    status: 403,
    code: 'forbidden',
  })
  expect(await overTcp(path, { ...bearer, host: 'evil.example' })).toEqual({ status: 403, code: 'forbidden' })
  const { token } = new TokenFile(temp.home).create({ role: 'agent', session: 's1' })
  expect(await overTcp(path, { authorization: `Bearer ${token}` })).toEqual({ status: 403, code: 'denied' })
  const refused = (path: string) => new Screen(daemon, path).refused()
  expect(await refused('/v1/processes/p_nope/terminal')).toEqual({ status: 404, code: 'unknown_pid' })
  expect(await refused('/v1/processes/%zz/terminal')).toEqual({ status: 404, code: 'unknown_pid' })
  expect(await refused('/v1/status')).toEqual({ status: 404, code: 'not_found' })
  expect(await refused(`${path}?offset=x`)).toEqual({ status: 400, code: 'bad_request' })
})

test('a terminal is closed when the daemon stops, without reporting the end of its process', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up()
  const pid = await spawn(daemon, 'echo ready; sleep 300')
  const screen = await new Screen(daemon, `/v1/processes/${pid}/terminal`).opened()
  await screen.shows('ready')
  await daemon.close({ keep: true })
  await until('it is closed', () => screen.closed !== undefined)
  expect(screen.closed).toMatchObject({ code: 1012 })
  expect(screen.told).toEqual([{ offset: 0 }])
  const next = await temp.up()
  expect((await ask(next, `GET /v1/processes/${pid}`)).json.status).toBe('running')
})

test('a client that stops reading delays no other, and gets everything when it reads again', async () => {
  const daemon = await new TempReeve().up()
  const pid = await spawn(daemon, 'echo ready; read line; seq 1 300000', { stdin: 'pipe' })
  const slow = await new Screen(daemon, `/v1/processes/${pid}/terminal`).opened()
  await slow.shows('ready')
  slow.ws.pause()
  await ask(daemon, `POST /v1/processes/${pid}/write`, { body: { text: '\n' } })
  const waited = await ask(daemon, `GET /v1/processes/${pid}/wait?timeoutMs=30000`)
  expect(waited.json.type).toBe('ended')
  slow.ws.resume()
  await until('it is closed', () => slow.closed !== undefined)
  const expected = `ready\n${Array.from({ length: 300_000 }, (_, i) => `${i + 1}\n`).join('')}`
  expect(slow.bytes.equals(Buffer.from(expected))).toBe(true)
})

test('revoking a token closes its terminals, and they take no more input', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up()
  const tokens = new TokenFile(temp.home)
  const { token, kept } = tokens.create({ role: 'operate' })
  const pid = await spawn(daemon, 'stty -echo; echo ready; while read line; do echo "got $line"; done')
  const headers = { authorization: `Bearer ${token}` }
  const screen = await new Screen(daemon, `/v1/processes/${pid}/terminal`, headers, false).opened()
  await screen.shows('ready')
  tokens.revoke(kept.id)
  screen.ws.send(Buffer.from('late\n'))
  await until('it is closed', () => screen.closed !== undefined)
  expect(screen.closed).toEqual({ code: 1008, reason: 'unauthorized' })
  expect((await ask(daemon, `GET /v1/processes/${pid}/output/stream`)).text).not.toContain('late')
})

test('a token that is revoked while its terminal opens gets no terminal', async () => {
  const daemon = await new TempReeve().up()
  const pid = await spawn(daemon, 'sleep 300')
  const text = newTokenText()
  const kept: StoredToken = { id: 't_1', hash: tokenHash(text), role: 'operate', createdAt: 0 }
  // The first look lets the caller in; from the next one on the token is revoked.
  let looks = 0
  const tokens = { all: () => (looks++ === 0 ? [kept] : []) }
  const listen = { host: '127.0.0.1', port: 0 }
  const server = await serve({ reeve: daemon.reeve, tokens, listen, version: '0', log: quiet })
  onTestFinished(() => server.close())
  const ws = new WebSocket(`${server.url?.replace('http', 'ws')}/v1/processes/${pid}/terminal`, {
    headers: { authorization: `Bearer ${text}` },
  })
  onTestFinished(() => ws.terminate())
  const status = await new Promise((resolve, reject) => {
    ws.on('error', reject)
    ws.on('open', () => resolve(101))
    ws.on('unexpected-response', (_request, { statusCode }) => resolve(statusCode))
  })
  expect(status).toBe(401)
})

test('an admin sees secrets at a terminal, and a token with the role operate does not, from the first byte on', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up()
  const secret = `ghp_${'Ab1c'.repeat(9)}`
  const pid = await spawn(
    daemon,
    `stty -echo; echo key ${secret}; read line; echo again ${secret}; sleep 300`,
  )
  const tokens = new TokenFile(temp.home)
  const sitting = async (role: 'operate' | 'admin') => {
    const headers = { authorization: `Bearer ${tokens.create({ role }).token}` }
    const screen = await new Screen(daemon, `/v1/processes/${pid}/terminal?offset=0`, headers, false).opened()
    await screen.shows('key')
    return screen
  }
  const [operator, admin] = [await sitting('operate'), await sitting('admin')]
  operator.ws.send(Buffer.from('typed\n'))
  for (const screen of [operator, admin]) await screen.shows('again')
  await admin.shows(`again ${secret}`)
  await until('all of it was shown', () => operator.bytes.length === admin.bytes.length)
  expect(operator.bytes.toString()).not.toContain(secret)
  expect(admin.bytes.toString().split(secret)).toHaveLength(3)
})
