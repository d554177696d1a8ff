import { realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import type { Reeve } from 'reeve'
import { describe, expect, test } from 'vitest'
import type { McpCaller } from '../../src/mcp/http.ts'
import { sessionIdOf } from '../../src/mcp/session-id.ts'
import { tempFolder } from '../temp-folder.ts'
import { TempReeve } from '../temp-reeve.ts'
import { call, ERAS, overHttp, overStdio, WAYS } from './connected.ts'

interface Begun {
  process: { pid: string }
}
interface Listed {
  processes: { pid: string }[]
}

for (const [way, connect] of Object.entries(WAYS)) {
  for (const era of ERAS) {
    describe(`over ${way} in the ${era} era`, () => {
      test('a client that only reads leaves no trace', async () => {
        await using temp = new TempReeve()
        const reeve = await temp.embed()
        const client = await connect(reeve, { era })
        await client.listTools()
        await client.listResources()
        await call(client, 'process_list')
        await call(client, 'inbox')
        await call(client, 'process_poll', { pid: 'nobody' })
        expect((await reeve.sessions()).sessions).toEqual([])
      })

      test('a client that reconnects finds its processes, and another client does not', async () => {
        await using temp = new TempReeve()
        const reeve = await temp.embed()
        const first = await connect(reeve, { era })
        const { structured } = await call<Begun>(first, 'process_start', { run: 'sleep 60', waitMs: 0 })
        const { pid } = structured.process
        await first.close()
        const again = await connect(reeve, { era })
        expect(await pidsOf(again)).toEqual([pid])
        const other = await connect(reeve, { era, name: 'another' })
        expect(await pidsOf(other)).toEqual([])
        for (const tool of ['process_poll', 'process_kill', 'process_log', 'process_restart'])
          expect(await call(other, tool, { pid })).toMatchObject({ isError: true })
        expect(await call(other, 'interrupt', { pid })).toMatchObject({ isError: true })
        await expect(other.readResource({ uri: `reeve://processes/${pid}` })).rejects.toThrow()
        expect((await reeve.show({ pid })).status).toBe('running')
      })
    })
  }
}

test('the folder is part of a client’s identity: its root, else its working directory', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const [here, there] = [tempFolder(), tempFolder()]
  const first = await overStdio(reeve, { era: 'legacy', cwd: here })
  const started = await call<Begun & { process: { cwd: string } }>(first, 'process_start', {
    run: 'sleep 60',
  })
  expect(started.structured.process.cwd).toBe(realpathSync(here))
  const { pid } = started.structured.process
  expect(await pidsOf(await overStdio(reeve, { era: 'modern', cwd: here }))).toEqual([pid])
  expect(await pidsOf(await overStdio(reeve, { era: 'legacy', cwd: there, root: here }))).toEqual([pid])
  expect(await pidsOf(await overHttp(reeve, { era: 'legacy', root: here }))).toEqual([pid])
  expect(await pidsOf(await overStdio(reeve, { era: 'legacy', cwd: there }))).toEqual([])
  const { sessions } = await reeve.sessions()
  expect(sessions).toMatchObject([
    { id: sessionIdOf('tester', realpathSync(here)), label: `tester in ${realpathSync(here)}` },
  ])
})

test('an agent with a session token acts in that session under any client name', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const [s1, s2] = [agent('s1'), agent('s2')]
  const first = await overHttp(reeve, { era: 'modern', caller: s1 })
  const { structured } = await call<Begun>(first, 'process_start', { run: 'sleep 60', waitMs: 0 })
  const { pid } = structured.process
  expect((await reeve.show({ pid })).owner).toEqual({ session: 's1' })
  expect(await pidsOf(await overHttp(reeve, { era: 'legacy', caller: s1, name: 'other' }))).toEqual([pid])
  expect(await pidsOf(await overHttp(reeve, { era: 'legacy', caller: s2 }))).toEqual([])
  await reeve.endSession({ session: 's1' })
  const refused = await call(first, 'process_start', { run: 'true' })
  expect(refused).toMatchObject({ isError: true })
  expect(refused.text).toContain('session_ended')
})

test('a read-only token is refused every tool that changes something', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const caller = { role: 'read', actor: 'host', tokenId: 'tok-r' } as const
  const client = await overHttp(reeve, { era: 'modern', caller })
  const refused = await call(client, 'process_start', { run: 'true' })
  expect(refused).toMatchObject({ isError: true })
  expect(refused.text).toContain('may only read')
  expect(await call(client, 'process_list')).toMatchObject({ isError: false })
})

test('a client of an ended session gets the next one, with the old notices and the detached processes', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const client = await overStdio(reeve, { era: 'modern', cwd: tmpdir() })
  const lost = await call<Begun>(client, 'process_start', { run: 'sleep 60', waitMs: 0 })
  const kept = await call<Begun>(client, 'process_start', {
    run: 'sleep 61',
    waitMs: 0,
    lifetime: 'detached',
  })
  const session = sessionIdOf('tester', realpathSync(tmpdir()))
  await reeve.endSession({ session })
  await reeve.wait({ pid: lost.structured.process.pid })

  const back = await overStdio(reeve, { era: 'modern', cwd: tmpdir() })
  expect(await pidsOf(back)).toEqual([kept.structured.process.pid])
  const told = await call(back, 'inbox')
  expect(told.structured).toMatchObject({ notices: [{ pid: lost.structured.process.pid }] })
  await call(back, 'process_start', { run: 'true' })
  expect(await openSessions(reeve)).toEqual([`${session}.2`])
  expect(await pidsOf(back)).toEqual([kept.structured.process.pid])
  const both = await call(back, 'inbox')
  expect(both.structured).toMatchObject({ before: [{ pid: lost.structured.process.pid }], notices: [] })
  // The connection that was open all the time continues in the new session.
  expect(await call(client, 'process_start', { run: 'true' })).toMatchObject({ isError: false })
  expect(await openSessions(reeve)).toEqual([`${session}.2`])
})

function agent(session: string): McpCaller {
  return { role: 'agent', actor: `session:${session}`, tokenId: `tok-${session}` }
}

async function pidsOf(client: Parameters<typeof call>[0]): Promise<string[]> {
  return (await call<Listed>(client, 'process_list')).structured.processes.map(({ pid }) => pid)
}

async function openSessions(reeve: Reeve): Promise<string[]> {
  const { sessions } = await reeve.sessions()
  return sessions.filter(({ endedAt }) => endedAt === null).map(({ id }) => id)
}
