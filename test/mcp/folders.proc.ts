import { pathToFileURL } from 'node:url'
import type { Client } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { TokenFile } from '../../src/daemon/token-file.ts'
import type { Daemon } from '../../src/daemon/up.ts'
import { tempFolder } from '../temp-folder.ts'
import { TempReeve } from '../temp-reeve.ts'
import { call, ERAS } from './connected.ts'
import { clientAtDaemon } from './daemon-client.ts'

const SERVER = { run: 'pwd -P; exec sleep 60', name: 'server', waitMs: 0 }
const pidIn = (text: string) => /p_[0-9a-z]{12}/.exec(text)?.[0] ?? ''

async function daemonIn(temp: TempReeve): Promise<{ daemon: Daemon; at: { url: string; token: string } }> {
  const daemon = await temp.up()
  return { daemon, at: { url: daemon.url ?? '', token: daemon.token } }
}

/** Starts a server, and waits until it has printed this folder. */
async function startedIn(
  client: Client,
  folder: string,
  more: { readonly cwd?: string } = {},
): Promise<string> {
  const pid = pidIn((await call(client, 'process_start', { ...SERVER, ...more })).text)
  const until = { text: folder }
  const waited = await call(client, 'process_wait', { pid, until, timeoutMs: 20_000 })
  expect(waited.text).toContain(`Printed: ${folder}\n`)
  return pid
}

/** Neither client reaches the other's processes, by a list, by name, or with an interrupt of all. */
async function expectApart(daemon: Daemon, client: Client, pid: string): Promise<void> {
  expect((await call(client, 'process_list')).text).not.toContain(pid)
  expect(await call(client, 'process_kill', { pid: 'server' })).toMatchObject({ isError: true })
  await call(client, 'interrupt', {})
  await call(client, 'interrupt', { all: true })
  expect((await daemon.reeve.show({ pid })).status).toBe('running')
}

for (const era of ERAS) {
  test(`over HTTP in the ${era} era a client with roots works in its root, separate from other folders`, async () => {
    const { daemon, at } = await daemonIn(new TempReeve())
    const [a, b] = [tempFolder(), tempFolder()]
    const { client: inA } = await clientAtDaemon({ ...at, era, root: a })
    const { client: inB } = await clientAtDaemon({ ...at, era, root: b })
    const pid = await startedIn(inA, a)
    await expectApart(daemon, inB, pid)
    const { client: again } = await clientAtDaemon({ ...at, era, root: a })
    expect((await call(again, 'process_list')).text).toContain(pid)
    const { contents } = await again.readResource({ uri: `reeve://processes/${pid}` })
    expect(JSON.stringify(contents)).toContain(pid)
  })

  test(`over HTTP in the ${era} era a client without roots names its folder in the URL or in a header`, async () => {
    const { daemon, at } = await daemonIn(new TempReeve())
    const [a, b] = [tempFolder(), tempFolder()]
    const { client: byUrl } = await clientAtDaemon({ ...at, era, folder: a })
    const pid = await startedIn(byUrl, a)
    for (const said of [a, pathToFileURL(a).href]) {
      const { client } = await clientAtDaemon({ ...at, era, headers: { 'Reeve-Folder': said } })
      expect((await call(client, 'process_list')).text).toContain(pid)
    }
    const { client: elsewhere } = await clientAtDaemon({ ...at, era, folder: b })
    await expectApart(daemon, elsewhere, pid)
    await expect(clientAtDaemon({ ...at, era, folder: 'not/absolute' })).rejects.toThrow()
  })

  test(`over HTTP in the ${era} era a client without a folder names one per command, and reaches no other client's processes`, async () => {
    const temp = new TempReeve()
    const { daemon, at } = await daemonIn(temp)
    const { client: one } = await clientAtDaemon({ ...at, era })
    const refused = await call(one, 'process_start', SERVER)
    expect(refused).toMatchObject({ isError: true })
    expect(refused.text).toContain('cwd')
    expect(refused.text).toContain('folder_unknown')
    expect((await daemon.reeve.list({ filter: { status: 'any' } })).processes).toEqual([])

    const cwd = tempFolder()
    const pid = await startedIn(one, cwd, { cwd })
    expect((await call(one, 'process_log', { pid })).text).toContain(cwd)
    const { client: other } = await clientAtDaemon({ ...at, era })
    await expectApart(daemon, other, pid)
    expect((await call(one, 'process_kill', { pid })).text).toContain('killed')
  })

  test(`over HTTP in the ${era} era an agent with a session token needs a folder for its commands, too`, async () => {
    const temp = new TempReeve()
    const { at } = await daemonIn(temp)
    const { token } = new TokenFile(temp.home).create({ role: 'agent', session: 's1' })
    const { client } = await clientAtDaemon({ ...at, token, era })
    const refused = await call(client, 'process_start', SERVER)
    expect(refused).toMatchObject({ isError: true })
    expect(refused.text).toContain('folder_unknown')
    const cwd = tempFolder()
    await startedIn(client, cwd, { cwd })
    expect((await call(client, 'process_list')).text).toContain('server')
  })
}

test('a relative folder is refused with an example of a right one', async () => {
  const { at } = await daemonIn(new TempReeve())
  const response = await fetch(`${at.url}/mcp?folder=not/absolute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${at.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} }),
  })
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ code: 'bad_request', detail: /absolute/ })
})
