import { expect, test } from 'vitest'
import { printed, start } from '../command/commands.ts'
import { until } from '../keeper/client.ts'
import { TempReeve } from '../temp-reeve.ts'
import { call, countWaits, ERAS, recordWaits, WAYS } from './connected.ts'

for (const [way, connect] of Object.entries(WAYS)) {
  for (const era of ERAS) {
    test(`over ${way} in the ${era} era a wait reports progress, and a timeout is no error`, async () => {
      await using temp = new TempReeve()
      const client = await connect(await temp.embed(), { era })
      await call(client, 'process_start', { run: 'sleep 60', name: 'slow', waitMs: 0 })
      const told: object[] = []
      const waited = await call(
        client,
        'process_wait',
        { pid: 'slow', timeoutMs: 1_200 },
        { onprogress: (progress) => void told.push(progress) },
      )
      expect(waited).toMatchObject({ isError: false, structured: { type: 'timed_out' } })
      expect(waited.text).toMatch(/^Not yet: waited 1\.2 s\./)
      expect(told[0]).toMatchObject({ total: 1_200, message: 'waiting for the end of slow' })
    })

    test(`over ${way} in the ${era} era a cancelled wait ends, and the process does not`, async () => {
      await using temp = new TempReeve()
      const reeve = await temp.embed()
      const waits = countWaits(reeve)
      const client = await connect(waits.reeve, { era })
      const started = await call<{ process: { pid: string } }>(client, 'process_start', {
        run: 'echo unread; exec sleep 60',
        waitMs: 0,
      })
      const { pid } = started.structured.process
      const cancel = new AbortController()
      const waiting = call(client, 'process_wait', { pid, timeoutMs: 50_000 }, { signal: cancel.signal })
      await until('the wait has begun', () => waits.under > 0)
      cancel.abort('enough')
      await expect(waiting).rejects.toThrow()
      await until('the wait is over', () => waits.under === 0)
      expect((await reeve.show({ pid })).status).toBe('running')
    })
  }
}

test('output during a cancelled call stays unread', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const waits = countWaits(reeve)
  const client = await WAYS.stdio(waits.reeve, { era: 'modern' })
  const cancel = new AbortController()
  const given = { run: 'echo unread; exec sleep 60', waitMs: 30_000, name: 'slow' }
  const starting = call(client, 'process_start', given, { signal: cancel.signal })
  await until('it has begun', () => waits.under > 0)
  const { processes } = await reeve.list()
  await printed(reeve, processes[0]?.record.pid ?? '', 'unread')
  cancel.abort('enough')
  await expect(starting).rejects.toThrow()
  expect((await call(client, 'process_poll', { pid: 'slow' })).structured).toMatchObject({
    output: 'unread\n',
  })
})

test('a disconnect ends the client’s wait, and nothing else', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const waits = countWaits(reeve)
  const client = await WAYS.stdio(waits.reeve, { era: 'legacy' })
  await call(client, 'process_start', { run: 'sleep 60', name: 'slow', waitMs: 0 })
  const waiting = call(client, 'process_wait', { pid: 'slow', timeoutMs: 50_000 })
  await until('the wait has begun', () => waits.under > 0)
  await client.close()
  await expect(waiting).rejects.toThrow()
  await until('the wait is over', () => waits.under === 0)
  expect((await reeve.list()).processes).toHaveLength(1)
  const other = await start(reeve, 'true')
  expect(other.pid).toMatch(/^p_/)
})

test('a wait beyond the client’s timeout is answered before it, with the time that is left', async () => {
  await using temp = new TempReeve()
  const waits = recordWaits(await temp.embed())
  const longest = async (name: string, given: Record<string, unknown> = { timeoutMs: 3_600_000 }) => {
    const client = await WAYS.stdio(waits.reeve, { era: 'legacy', name })
    await call(client, 'process_start', { run: 'sleep 60', name: 'slow', waitMs: 0 })
    const { text, isError } = await call(client, 'process_wait', { pid: 'slow', ...given })
    expect(isError).toBe(false)
    const ms = waits.asked.at(-1) ?? 0
    await call(client, 'process_kill', { pid: 'slow' })
    return { ms, text }
  }
  const unknown = await longest('some client')
  expect(unknown.ms).toBeLessThanOrEqual(50_000)
  expect(unknown.ms).toBeGreaterThan(30_000)
  expect(unknown.text).toMatch(
    /^Not yet: .* 59 min of your timeoutMs are left.*process_wait again.*has been running/s,
  )
  expect((await longest('codex-mcp-client')).ms).toBeGreaterThan(100_000)
  expect((await longest('codex-mcp-client')).ms).toBeLessThan(300_000)
  expect((await longest('claude-code')).ms).toBeLessThan(120_000)
  expect((await longest('gemini-cli-mcp-client-reeve')).ms).toBeLessThan(600_000)
  const short = await longest('some client', { timeoutMs: 10 })
  expect(short.text).not.toContain('are left')
})
