import { describe, expect, test } from 'vitest'
import { TempReeve } from '../temp-reeve.ts'
import { call, ERAS, STRUCTURED, textOf, WAYS } from './connected.ts'

const PIPED = { stdin: 'pipe', waitMs: 0 } as const
const EPOCH_MS = /\b1[6-9]\d{11}\b/

for (const [way, connect] of Object.entries(WAYS)) {
  for (const era of ERAS) {
    describe(`over ${way} in the ${era} era`, () => {
      test('an answer is text alone, unless the call or the connection asks for structured content', async () => {
        await using temp = new TempReeve()
        const reeve = await temp.embed()
        const client = await connect(reeve, { era })
        const given = { name: 'process_start', arguments: { run: 'echo hello', waitMs: 20_000 } }
        const plain = await client.callTool(given)
        expect(plain.structuredContent).toBeUndefined()
        expect(plain.content).toHaveLength(1)
        const asked = await client.callTool({ ...given, _meta: STRUCTURED })
        expect(asked.structuredContent).toMatchObject({ finished: true, output: 'hello\n' })
        const always = await connect(reeve, { era, structured: true })
        expect((await always.callTool(given)).structuredContent).toMatchObject({ finished: true })
      })

      test('the text has everything that a model needs for its next step', async () => {
        await using temp = new TempReeve()
        const reeve = await temp.embed()
        const client = await connect(reeve, { era })
        const ended = await textOf(client, 'process_start', { run: 'echo hello; exit 7', waitMs: 20_000 })
        expect(ended).toMatch(/^p_\w+ failed \(exit code 7\) after .* m?s: echo hello; exit 7\nhello$/)
        const started = await textOf(client, 'process_start', {
          run: 'read x; echo up; exec sleep 60',
          ...PIPED,
        })
        expect(started).toMatch(/^p_\w+ has been running for .*Next: process_wait/s)
        const pid = /^p_\w+/.exec(started)?.[0] ?? ''
        await textOf(client, 'process_write', { pid, text: 'go', enter: true, waitMs: 0 })
        const texts = [
          await textOf(client, 'process_wait', { pid, until: { text: 'up', from: 0 }, timeoutMs: 20_000 }),
          await textOf(client, 'process_poll', { pid }),
          await textOf(client, 'process_wait', { pid, until: { text: 'down', from: 3 }, timeoutMs: 50 }),
          await textOf(client, 'process_list', { status: 'any' }),
          await textOf(client, 'interrupt', { pid }),
        ]
        await reeve.wait({ pid })
        texts.push(await textOf(client, 'inbox'), await textOf(client, 'process_kill', { pid }))
        for (const text of [started, ...texts]) {
          expect(text).toContain(pid)
          expect(text).not.toMatch(EPOCH_MS)
        }
        expect(texts[0]).toMatch(/^Printed: up\np_\w+ has been running for /)
        expect(texts[2]).toMatch(/^Not yet/)
      })
    })
  }
}

test.each([100, 400, 1_000, 4_000])('no answer has more than maxChars: %d', async (maxChars) => {
  await using temp = new TempReeve()
  const client = await WAYS.stdio(await temp.embed(), { era: 'modern' })
  const run = `for i in $(seq 1 2000); do echo '"quoted" \\ line' $i; done; cat`
  const given = { run, stdin: 'pipe', name: 'long', maxChars }
  const texts = [
    await textOf(client, 'process_start', given),
    await textOf(client, 'process_poll', { pid: 'long', maxChars }),
    await textOf(client, 'process_wait', { pid: 'long', until: { text: 'line 2000' }, maxChars }),
    await textOf(client, 'process_write', { pid: 'long', text: 'x', enter: true, maxChars }),
    await textOf(client, 'process_log', { pid: 'long', limit: 500, maxChars }),
    await textOf(client, 'process_search', { pid: 'long', text: 'line', context: 3, maxChars }),
    await textOf(client, 'process_restart', { pid: 'long', maxChars }),
  ]
  for (const text of texts) expect(text.length, text).toBeLessThanOrEqual(maxChars)
  if (maxChars < 1_000) return
  for (const name of ['process_poll', 'process_log', 'process_search', 'process_wait']) {
    const extra =
      name === 'process_search'
        ? { text: 'line', context: 3 }
        : name === 'process_wait'
          ? { timeoutMs: 1 }
          : {}
    const { structured } = await call(client, name, { pid: 'long', maxChars, ...extra })
    expect(JSON.stringify(structured).length, name).toBeLessThanOrEqual(maxChars)
  }
})

test('consecutive polls show every line once, for any page size', async () => {
  await using temp = new TempReeve()
  const client = await WAYS.stdio(await temp.embed(), { era: 'modern' })
  const run = String.raw`for i in $(seq 1 300); do printf '\033[32mline %d\033[0m\r\n' $i; done; echo done; exec sleep 60`
  const started = await call<{ output: string }>(client, 'process_start', { run, name: 'long', waitMs: 0 })
  const shown = [started.structured.output]
  while (!shown.at(-1)?.includes('done') && shown.length < 100) {
    const { structured } = await call<{ output: string }>(client, 'process_wait', {
      pid: 'long',
      until: { text: 'done' },
      timeoutMs: 20_000,
      maxChars: 1_500,
    })
    shown.push(structured.output)
  }
  const lines = Array.from({ length: 300 }, (_, index) => `line ${index + 1}\n`)
  expect(shown.join('')).toBe(`${lines.join('')}done\n`)
})
