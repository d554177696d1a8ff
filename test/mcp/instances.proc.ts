import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '@modelcontextprotocol/client'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { until } from '../keeper/client.ts'
import { tempFolder } from '../temp-folder.ts'
import { TempReeve } from '../temp-reeve.ts'
import { call, clientOf, ERAS, overHttp, overStdio } from './connected.ts'
import { killDaemon, reeveMcp } from './reeve-mcp.ts'

interface Begun {
  process: { pid: string }
}

const ECHO = { run: 'while read -r line; do echo "$line"; done', stdin: 'pipe', waitMs: 0 }

async function poll(client: Client, pid: string): Promise<string> {
  return (await call(client, 'process_poll', { pid })).text
}

/** Each of two instances sees all output, and gets each end once. */
async function expectOwnPositions(one: Client, other: Client, restart: () => Promise<void>): Promise<void> {
  const { pid } = (await call<Begun>(one, 'process_start', ECHO)).structured.process
  const say = async (text: string) => {
    await call(one, 'process_write', { pid, text, enter: true, until: { text } })
  }
  await say('first line')
  // The first has read it with its answer; the second connected before the process, and has not.
  expect(await poll(one, pid)).toContain('(no new output)')
  expect(await poll(other, pid)).toContain('first line')
  expect(await poll(other, pid)).toContain('(no new output)')
  await restart()
  await say('second line')
  expect(await poll(other, pid)).toContain('second line')
  expect(await poll(other, pid)).not.toContain('second line')

  // The second still gets notices that the first waited for or acknowledged.
  await call(one, 'process_write', { pid, end: true })
  expect((await call(one, 'process_wait', { pid, timeoutMs: 30_000 })).text).toContain('completed')
  const next = async (client: Client) => {
    const { text } = await call(client, 'inbox')
    return { text, after: Number(/after: (\d+)/.exec(text)?.[1] ?? 0) }
  }
  expect((await next(one)).text).not.toContain(pid)
  const told = await next(other)
  expect(told.text).toContain(pid)
  const signal = join(tempFolder(), 'go')
  const run = `until [ -e ${signal} ]; do sleep 0.05; done; exit 3`
  const failed = (await call<Begun>(other, 'process_start', { run, waitMs: 0 })).structured.process.pid
  writeFileSync(signal, '')
  const acknowledged = async (client: Client) => {
    let seen = await next(client)
    await until('it is told of the end', async () => {
      if (!seen.text.includes(failed)) seen = await next(client)
      return seen.text.includes(failed)
    })
    return (await call(client, 'inbox', { after: seen.after })).text
  }
  expect(await acknowledged(one)).toContain('Nothing new')
  expect(await acknowledged(other)).toContain('Nothing new')
  expect((await next(other)).text).toContain('Nothing new')
}

for (const era of ERAS) {
  test(`in the ${era} era two instances of a client in one folder have separate read positions in output and inbox`, {
    timeout: 180_000,
  }, async () => {
    const temp = new TempReeve()
    const cwd = tempFolder()
    const one = await reeveMcp(temp, { era, cwd })
    const other = await reeveMcp(temp, { era, cwd })
    await expectOwnPositions(one, other, () => killDaemon(temp))

    // A later connection does not get acknowledged notices again.
    const again = await reeveMcp(temp, { era, cwd })
    expect((await call(again, 'inbox')).text).toContain('Nothing new')
    const { pid } = (await call<Begun>(one, 'process_start', ECHO)).structured.process
    await call(one, 'process_write', { pid, text: 'seen', enter: true, until: { text: 'seen' } })
    const later = await reeveMcp(temp, { era, cwd })
    expect(await poll(later, pid)).toContain('(no new output)')
  })
}

test('two legacy connections over HTTP have separate read positions', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up()
  const connect = async () => {
    const client = clientOf({ era: 'legacy', root: temp.home.folder })
    const headers = { authorization: `Bearer ${daemon.token}` }
    const url = new URL(`${daemon.url}/mcp`)
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }))
    return client
  }
  await expectOwnPositions(await connect(), await connect(), async () => {})
})

for (const era of ERAS) {
  test(`in the ${era} era a new connection is told what ended while no client was connected, but not what its predecessor waited for`, {
    timeout: 180_000,
  }, async () => {
    await using temp = new TempReeve()
    const reeve = await temp.embed()
    const cwd = tempFolder()
    const first = await overStdio(reeve, { era, cwd })
    // More than a page of the inbox.
    for (let count = 0; count < 22; count++) {
      const { text } = await call(first, 'process_start', { run: 'echo done', waitMs: 30_000 })
      expect(text).toContain('completed')
    }
    const gated = { run: 'read go; exit 3', stdin: 'pipe', waitMs: 0 }
    const { pid } = (await call<Begun>(first, 'process_start', gated)).structured.process
    await first.close()
    await reeve.write({ pid, text: 'go\n' })
    await reeve.wait({ pid })

    const second = await overStdio(reeve, { era, cwd })
    const told = await call<{ notices: { pid: string }[]; next: number }>(second, 'inbox')
    expect(told.structured.notices.map((notice) => notice.pid)).toEqual([pid])
    await call(second, 'process_wait', { pid })
    await second.close()
    const third = await overStdio(reeve, { era, cwd })
    expect((await call(third, 'inbox')).text).toContain('Nothing new')
  })
}

test('each of two connections is shown the end of a long output once', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const root = tempFolder()
  const one = await overHttp(reeve, { era: 'legacy', root })
  const other = await overHttp(reeve, { era: 'legacy', root })
  const run = { run: 'seq 1 3000', waitMs: 30_000 }
  const started = await call<Begun>(one, 'process_start', run)
  const lastLine = /^3000$/m
  expect(started.text).toMatch(lastLine)
  const { pid } = started.structured.process
  expect(await poll(other, pid)).toMatch(lastLine)
  expect(await poll(other, pid)).not.toMatch(lastLine)
})
