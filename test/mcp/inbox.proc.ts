import { describe, expect, test } from 'vitest'
import { TempReeve } from '../temp-reeve.ts'
import { call, WAYS } from './connected.ts'

interface Inbox {
  readonly notices: readonly { readonly pid: string; readonly kind: string; readonly text: string }[]
  readonly next: number
}

test('the inbox repeats watched lines and readiness until the agent acknowledges them', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const client = await WAYS.stdio(reeve, { era: 'modern' })
  const started = await call<{ process: { pid: string } }>(client, 'process_start', {
    run: 'echo ERROR: no space; echo listening; exec sleep 60',
    waitMs: 0,
    watch: [{ text: 'ERROR' }],
    ready: { log: 'listening' },
  })
  const { pid } = started.structured.process
  const waited = await call(client, 'process_wait', { pid, ready: true })
  expect(waited.structured).toMatchObject({ type: 'ready' })
  await expect
    .poll(async () => (await call<Inbox>(client, 'inbox')).structured.notices.map(({ kind }) => kind).sort())
    .toEqual(['ready', 'watch_match'])
  const again = await call<Inbox>(client, 'inbox')
  expect(again.text).toContain('ERROR: no space')
  const { next } = again.structured
  expect((await call<Inbox>(client, 'inbox', { after: next })).structured.notices).toEqual([])
  expect((await call<Inbox>(client, 'inbox')).structured.notices).toEqual([])
  await reeve.kill({ pid })
  const ended = await call<Inbox>(client, 'inbox')
  expect(ended.structured.notices.map(({ kind }) => kind)).toEqual(['completion'])
})

for (const [way, connect] of Object.entries(WAYS)) {
  describe(`over ${way}`, () => {
    test('the inbox still tells of an end that was polled, listed or read as a resource', async () => {
      await using temp = new TempReeve()
      const reeve = await temp.embed()
      const client = await connect(reeve, { era: 'modern' })
      const begin = async (run: string) => {
        const gated = { run: `read go; ${run}`, stdin: 'pipe', waitMs: 0 }
        const started = await call<{ process: { pid: string } }>(client, 'process_start', gated)
        const { pid } = started.structured.process
        await reeve.write({ pid, text: 'go\n' })
        await reeve.wait({ pid })
        return pid
      }
      const told = async () => (await call<Inbox>(client, 'inbox')).structured.notices.map(({ pid }) => pid)
      const polled = await begin('seq 1 5000')
      const looked = await call<{ output: string }>(client, 'process_poll', { pid: polled })
      expect(looked.structured.output).toMatch(/^1\n.*left out.*\n4999\n5000\n$/s)
      expect(await told()).toEqual([])
      expect(await told()).toEqual([polled])
      const listed = await begin('true')
      expect(await told()).toEqual([polled, listed])
      await call(client, 'process_list', { status: 'any' })
      expect(await told()).toEqual([])
      expect(await told()).toEqual([polled, listed])
      const { contents } = await client.readResource({ uri: `reeve://processes/${polled}/log` })
      const text = String(Object(contents[0]).text)
      expect(text.split('\n')).toHaveLength(1_000)
      expect(text).toMatch(/^4001\n.*\n5000$/s)
      expect(await told()).toEqual([polled, listed])
      await call(client, 'process_log', { pid: polled })
      expect(await told()).toEqual([listed])
    })
  })
}
