import { expect, test } from 'vitest'
import { TokenFile } from '../../src/daemon/token-file.ts'
import { until } from '../keeper/client.ts'
import { tempFolder } from '../temp-folder.ts'
import { TempReeve } from '../temp-reeve.ts'
import { call, ERAS } from './connected.ts'
import { killDaemon, reeveMcp } from './reeve-mcp.ts'

interface Begun {
  process: { pid: string; cwd: string }
}

for (const era of ERAS) {
  test(`in the ${era} era an agent survives kill -9 of the daemon, and finds its processes when it reconnects`, async () => {
    const temp = new TempReeve()
    const folder = tempFolder()
    const client = await reeveMcp(temp, { era, cwd: folder })
    await client.listTools()
    // Listing starts no daemon.
    expect(temp.announced()).toBeNull()

    const run = 'i=0; while read -r line; do i=$((i+1)); echo "$i $line"; done'
    const started = await call<Begun>(client, 'process_start', {
      run,
      stdin: 'pipe',
      name: 'echo',
      waitMs: 100,
    })
    expect(started.text).toContain('has been running')
    const { pid, cwd } = started.structured.process
    expect(cwd).toBe(folder)
    const first = await call(client, 'process_write', { pid, text: 'before', enter: true })
    expect(first.structured).toMatchObject({ output: '1 before\n' })
    expect((await call(client, 'process_search', { pid, text: 'before' })).structured).toMatchObject({
      total: 1,
    })

    await killDaemon(temp)
    const polled = await call(client, 'process_poll', { pid })
    expect(polled.structured, polled.text).toMatchObject({
      output: '',
      process: { pid, status: 'running' },
    })
    const second = await call(client, 'process_write', { pid, text: 'after', enter: true })
    expect(second.structured).toMatchObject({ output: '2 after\n' })

    // The daemon dies in the middle of a wait.
    const waiting = call(client, 'process_wait', { pid, until: { text: 'late' }, timeoutMs: 20_000 })
    await killDaemon(temp)
    await until('there is a daemon again', async () => !(await call(client, 'process_poll', { pid })).isError)
    await call(client, 'process_write', { pid, text: 'late', enter: true })
    expect((await waiting).structured).toMatchObject({ type: 'matched', line: '3 late' })

    await client.close()
    const again = await reeveMcp(temp, { era, cwd: folder })
    const { structured } = await call<{ processes: { pid: string }[] }>(again, 'process_list')
    expect(structured.processes).toMatchObject([{ pid, name: 'echo' }])
    const elsewhere = await reeveMcp(temp, { era, cwd: tempFolder() })
    expect((await call(elsewhere, 'process_list')).structured).toMatchObject({ processes: [] })
    expect(await call(elsewhere, 'process_kill', { pid })).toMatchObject({ isError: true })
    expect((await call(again, 'process_kill', { pid })).structured).toMatchObject({ type: 'ended' })
    // process_kill has answered with its end.
    expect((await call(again, 'inbox')).structured).toMatchObject({ notices: [] })
  })
}

test('an agent with a session token acts in that session without knowing its id', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up()
  await daemon.reeve.openSession({ session: 's1' })
  const { token } = new TokenFile(temp.home).create({ role: 'agent', session: 's1' })
  const client = await reeveMcp(temp, {
    era: 'modern',
    cwd: tempFolder(),
    env: { REEVE_TOKEN: token },
  })
  const { structured } = await call<Begun>(client, 'process_start', { run: 'echo hello' })
  expect((await daemon.reeve.show({ pid: structured.process.pid })).owner).toMatchObject({ session: 's1' })
  await client.close()
})

test('an answer has structured content only with --structured', async () => {
  const temp = new TempReeve()
  await temp.up()
  const given = { name: 'process_list', arguments: {} }
  const plain = await reeveMcp(temp, { era: 'legacy', cwd: tempFolder() })
  expect(await plain.callTool(given)).not.toHaveProperty('structuredContent')
  const structured = await reeveMcp(temp, {
    era: 'modern',
    cwd: tempFolder(),
    options: ['--structured'],
  })
  expect(await structured.callTool(given)).toMatchObject({ structuredContent: { processes: [] } })
})

test('the session of an agent begins with the preset of its command line', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up()
  const client = await reeveMcp(temp, { era: 'modern', cwd: tempFolder(), options: ['--preset', 'observe'] })
  const started = await call(client, 'process_start', { run: 'echo hello' })
  expect(started).toMatchObject({ isError: true })
  expect(started.text).toContain('denied')
  const { rules } = await daemon.reeve.policies()
  expect(new Set(rules.map(({ rule }) => Object(rule).preset))).toEqual(new Set(['observe']))
  await client.close()
})
